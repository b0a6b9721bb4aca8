# Changed.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.compile(DDP(net))
