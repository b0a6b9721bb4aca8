# Changed: A reduction that is passed on is followed through the calls.

import torch.distributed as dist

def sync(value, op=dist.ReduceOp.SUM):
    dist.all_reduce(value, op=op)
    return value

sync(x)
sync(y, dist.ReduceOp.MAX)
