# Changed: Only this rule: HVD201 takes DDP and HVD202 the other .module.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)))
optimizer = torch.optim.SGD(model.module.head.parameters(), lr=0.1)
