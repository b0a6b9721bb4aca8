# Reported: where the writing ends cannot be seen

import torch

loss.backward()
optimizer.step()
file = open("log.txt", "a")
file.write(str(loss.item()))
