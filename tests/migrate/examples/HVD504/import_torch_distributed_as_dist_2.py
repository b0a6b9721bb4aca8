# Changed.

import torch.distributed as dist

def collect(scores, everyone, rank):
    dist.gather_object(scores, everyone if rank == 0 else None, dst=0)
    return everyone
