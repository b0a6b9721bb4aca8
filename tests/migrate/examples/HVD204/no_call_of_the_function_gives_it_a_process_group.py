# Changed: No call of the function gives it a process group.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def norm(*args, **kwargs):
    return torch.nn.SyncBatchNorm(*args, **kwargs)

model = DDP(torch.nn.Sequential(torch.nn.Linear(4, 8), norm(8, eps=1e-3)))
