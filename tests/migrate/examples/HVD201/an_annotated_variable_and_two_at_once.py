# Changed: An annotated variable, and two at once.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model: torch.nn.Module = DDP(torch.nn.Linear(2, 1))
net = torch.nn.Linear(2, 1)
net = other = DDP(net)
