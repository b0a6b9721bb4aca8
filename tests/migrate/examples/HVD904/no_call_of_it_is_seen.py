# Reported: no call of it is seen, so when it runs is not known

import torch
import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

def allreduce_params(module):
    grads = [param.grad.data for param in module.parameters() if param.grad is not None]
    coalesced = _flatten_dense_tensors(grads)
    dist.all_reduce(coalesced)
    coalesced /= dist.get_world_size()
    for buf, synced in zip(grads, _unflatten_dense_tensors(coalesced, grads)):
        buf.copy_(synced)
