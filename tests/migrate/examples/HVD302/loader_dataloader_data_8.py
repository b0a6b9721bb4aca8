# Changed.

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, 8)
batches = iter(loader)
for step in range(100):
    try:
        x = next(batches)
    except StopIteration:
        batches = iter(loader)
        x = next(batches)
    model(x).sum().backward()
    optimizer.step()
