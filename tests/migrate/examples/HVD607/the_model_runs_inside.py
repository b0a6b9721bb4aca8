# Kept: the model runs inside: all ranks may have to
# Options: --suggested

import torch

def evaluate():
    return metric(model(data))

loss.backward()
optimizer.step()
with open("log.txt", "a") as file:
    file.write(str(evaluate()))
