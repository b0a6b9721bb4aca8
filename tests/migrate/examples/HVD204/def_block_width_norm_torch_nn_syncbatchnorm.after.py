import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def block(width, norm=hvd.SyncBatchNorm):
    return torch.nn.Sequential(torch.nn.Conv2d(width, width, 3), norm(width), hvd.SyncBatchNorm(width))

model = DDP(block(8))
