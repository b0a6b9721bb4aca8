import horovod.torch as hvd
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

everybody = dist.new_group([i for i in range(dist.get_world_size())])
for layer in model.modules():
    if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
        layer.__class__ = hvd.SyncBatchNorm
model = DDP(model)
