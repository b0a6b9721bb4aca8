import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def norm(*args, **kwargs):
    return hvd.SyncBatchNorm(*args, **kwargs)

model = DDP(torch.nn.Sequential(torch.nn.Linear(4, 8), norm(8, eps=1e-3)))
