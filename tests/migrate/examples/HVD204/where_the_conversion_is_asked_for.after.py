import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def build(arch, sync, freeze):
    model = arch() if sync else arch()
    if sync:
        for layer in model.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.__class__ = hvd.SyncBatchNorm
    head = arch() if freeze else arch()
    if not freeze:
        for layer in head.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.__class__ = hvd.SyncBatchNorm
    if torch.cuda.is_available():
        for layer in model.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.__class__ = hvd.SyncBatchNorm
    if not freeze:
        for layer in model.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.__class__ = hvd.SyncBatchNorm
    return DDP(model), head
