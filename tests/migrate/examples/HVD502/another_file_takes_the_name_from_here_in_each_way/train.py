# Changed: Another file takes the name from here, in each way to do it.

import torch.distributed as dist
from torch.distributed import broadcast

def send(x):
    dist.broadcast(x, 0)
    broadcast(x, 0)
