# Changed: A test of DDP itself: it reads averages.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
model(x).sum().backward()
print(model.module.weight.grad)
