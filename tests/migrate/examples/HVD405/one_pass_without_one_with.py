# Changed: One pass without, one with: the model is told by a constant.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    model.require_backward_grad_sync = False
    model(x).sum().backward()
    model.require_backward_grad_sync = True
    model(y).sum().backward()
    optimizer.step()
