# Kept: an ordinary BatchNorm is not synchronised by DDP either

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.BatchNorm2d(8))
