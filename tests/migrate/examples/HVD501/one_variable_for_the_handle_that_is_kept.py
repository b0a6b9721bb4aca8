# Changed: One variable for the handle that is kept, and for the one that is waited for.

import torch.distributed as dist

def reduce_all(tensors):
    reductions = []
    for tensor in tensors:
        reduction = dist.all_reduce(tensor, async_op=True)
        reductions.append(reduction)
    for reduction in reductions:
        reduction.wait()
