# Changed: Where the conversion is asked for: a model that was not converted keeps its layers.

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def build(arch, sync, freeze):
    model = nn.SyncBatchNorm.convert_sync_batchnorm(arch()) if sync else arch()
    head = arch() if freeze else nn.SyncBatchNorm.convert_sync_batchnorm(arch())
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model) if torch.cuda.is_available() else model
    model = model if freeze else nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DDP(model), head
