# Reported: the handle goes to a caller, who waits for it

import torch.distributed as dist

def start(total):
    return dist.all_reduce(total, async_op=True)
