import horovod.torch as hvd
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
net = build().cuda()
for layer in net.modules():
    if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
        layer.__class__ = hvd.SyncBatchNorm
