# Changed: How many batches there are is asked of the loader, or it starts anew.

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=8)
steps = len(loader)
batches = iter(loader)
for step in range(steps):
    model(next(batches)).sum().backward()
    optimizer.step()
batches = iter(loader)
for step in range(90):
    try:
        x = next(batches)
    except StopIteration:
        batches = iter(loader)
        x = next(batches)
    model(x).sum().backward()
    optimizer.step()
