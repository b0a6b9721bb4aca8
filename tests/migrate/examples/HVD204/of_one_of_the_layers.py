# Reported: ... of one of the layers

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def norm(*args, **kwargs):
    return torch.nn.SyncBatchNorm(*args, **kwargs)

model = DDP(torch.nn.Sequential(norm(8, eps=1e-3), norm(8, process_group=node)))
