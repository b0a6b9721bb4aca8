# Changed: ... and those of one variable in one function by their optimizers.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 2))
first = torch.optim.SGD(model.parameters(), lr=0.1)
generator = model
model = DDP(torch.nn.Linear(2, 1))
second = torch.optim.SGD(model.parameters(), lr=0.1)
