# Reported: no option: a job of many ranks would stop
# Options: --suggested

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP

def wrapped(model, old):
    if dist.get_world_size() > 8:
        return FSDP(model)
    return DDP(model)
