# Changed: The group of all ranks is what Horovod answers about.

import torch
from torch import distributed as dist

def describe():
    size = dist.get_world_size(group=None)
    rank = dist.get_rank(dist.group.WORLD)
    on_gpu = torch.distributed.get_backend() == "nccl"
    print(f"{dist.get_backend()} on {dist.get_world_size()}")
    return rank, size, on_gpu, dist.get_node_local_rank(fallback_rank=0)
