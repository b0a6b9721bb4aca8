# Changed: one process wrote this text

import torch

loss.backward()
optimizer.step()
with open("log.txt", "a") as file:
    file.write(str(loss.item()))
