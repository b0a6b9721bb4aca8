# Changed: A generator of the project hands its loader's batches on; the one that evaluates stays whole.

import torch
from log import every
from torch.utils.data import DataLoader

train = DataLoader(data, shuffle=True)
test = DataLoader(rest)
for x in every(train, 10):
    model(x).sum().backward()
    optimizer.step()
for x in every(test, 10):
    print(model(x))
