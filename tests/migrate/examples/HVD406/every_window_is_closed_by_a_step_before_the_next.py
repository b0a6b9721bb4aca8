# Kept: every window is closed by a step before the next zero_grad()

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    optimizer.zero_grad()
    for i in range(4):
        model.require_backward_grad_sync = i == 3
        model(batch()).sum().backward()
    optimizer.step()
