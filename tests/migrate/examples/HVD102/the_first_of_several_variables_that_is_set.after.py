import horovod.torch as hvd
import torch.distributed as dist

def world_info_from_env():
    local_rank = 0
    local_rank = hvd.local_rank()
    world_size = 1
    world_size = hvd.size()
    return local_rank, world_size

local_rank, world_size = world_info_from_env()
dist.init_process_group("gloo", world_size=world_size, rank=local_rank)
