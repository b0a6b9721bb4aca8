# Changed: A module whose names are all taken.

import torch.distributed as dist

def send(x):
    dist.broadcast(x, 0)
