# Changed.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def block(width, norm=torch.nn.SyncBatchNorm):
    return torch.nn.Sequential(torch.nn.Conv2d(width, width, 3), norm(width), torch.nn.SyncBatchNorm(width))

model = DDP(block(8))
