# Changed: apex's, and the tests for it.

import torch
from apex.parallel import SyncBatchNorm
from torch.nn.parallel import DistributedDataParallel as DDP

def start(model):
    for layer in model.modules():
        if isinstance(layer, (torch.nn.BatchNorm2d, SyncBatchNorm)):
            torch.nn.init.ones_(layer.weight)
        if isinstance(layer, torch.nn.SyncBatchNorm):
            torch.nn.init.zeros_(layer.bias)

model = torch.nn.Sequential(SyncBatchNorm(8), torch.nn.SyncBatchNorm(8))
start(model)
model = DDP(model)
