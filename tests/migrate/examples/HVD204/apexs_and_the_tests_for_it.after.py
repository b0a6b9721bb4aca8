import horovod.torch as hvd
import torch
from apex.parallel import SyncBatchNorm
from torch.nn.parallel import DistributedDataParallel as DDP

def start(model):
    for layer in model.modules():
        if isinstance(layer, (torch.nn.BatchNorm2d, SyncBatchNorm, hvd.SyncBatchNorm)):
            torch.nn.init.ones_(layer.weight)
        if isinstance(layer, (torch.nn.SyncBatchNorm, hvd.SyncBatchNorm)):
            torch.nn.init.zeros_(layer.bias)

model = torch.nn.Sequential(hvd.SyncBatchNorm(8), hvd.SyncBatchNorm(8))
start(model)
model = DDP(model)
