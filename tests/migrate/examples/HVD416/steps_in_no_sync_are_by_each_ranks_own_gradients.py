# Changed: Steps in no_sync() are by each rank's own gradients. HVD405 takes the `with` away.

from contextlib import nullcontext

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    with model.no_sync() if i % 4 else nullcontext():
        model(x).sum().backward()
        optimizer.step()
    optimizer.zero_grad()
