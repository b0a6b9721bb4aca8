# Reported: it is one of the things to ask for: --suggested

import torch

loss.backward()
optimizer.step()
with open("log.txt", "a") as file:
    file.write(str(loss.item()))
