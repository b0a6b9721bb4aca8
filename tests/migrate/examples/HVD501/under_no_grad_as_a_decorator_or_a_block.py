# Changed: Under no_grad, as a decorator or a block.

import torch
import torch.distributed as dist

@torch.no_grad()
def mean(x):
    dist.all_reduce(x)
    return x / dist.get_world_size()

def total(x):
    with torch.no_grad():
        dist.all_reduce(x, op=dist.ReduceOp.SUM)
    return x
