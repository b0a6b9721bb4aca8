# Changed.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    for step in range(steps):
        model.require_backward_grad_sync = step == steps - 1
        (model(batch()).sum() / steps).backward()
    optimizer.step()
    optimizer.zero_grad()
