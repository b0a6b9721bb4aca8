# Kept: the program starts a process group, too

import torch.distributed as dist
import horovod.torch as hvd
from torch.utils.data import DistributedSampler

if use_horovod:
    hvd.init()
else:
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
