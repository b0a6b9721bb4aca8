import horovod.torch as hvd
import torch
from apex.parallel import DistributedDataParallel

for layer in model.modules():
    if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
        layer.__class__ = hvd.SyncBatchNorm
model = DistributedDataParallel(model)
