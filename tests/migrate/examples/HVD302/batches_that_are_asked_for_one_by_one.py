# Changed: Batches that are asked for one by one: `it.next()` is `next(it)` of older versions of torch.

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
batches = iter(loader)
for step in range(100):
    try:
        x = batches.next()
    except StopIteration:
        batches = iter(loader)
        x = batches.next()
    model(x).sum().backward()
    optimizer.step()
