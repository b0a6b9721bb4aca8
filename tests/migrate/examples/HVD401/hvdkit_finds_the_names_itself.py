# Changed: hvdkit finds the names itself.
# Options: --target hvdkit

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1)), model.module.weight], lr=0.1)
