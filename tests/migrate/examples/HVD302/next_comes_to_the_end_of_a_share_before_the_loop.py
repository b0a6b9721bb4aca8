# Reported: next() comes to the end of a share before the loop does: StopIteration

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=8, shuffle=True)
steps = int(len(data) / 8)
for epoch in range(9):
    batches = iter(loader)
    for step in range(steps):
        x, y = next(batches)
        (model(x) - y).sum().backward()
        optimizer.step()
