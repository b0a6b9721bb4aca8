# Changed: A module that says which names it gives.

import torch.distributed as dist

__all__ = ["dist", "send"]

def send(x):
    dist.broadcast(x, 0)
