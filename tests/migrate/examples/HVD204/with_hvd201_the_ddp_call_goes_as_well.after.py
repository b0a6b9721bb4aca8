import horovod.torch as hvd
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def build(arch):
    model = DDP(arch())
    for layer in model.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            layer.__class__ = hvd.SyncBatchNorm
    return model
