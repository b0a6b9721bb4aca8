import torch.distributed as dist
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors


def sync(params):
    if not dist.is_initialized() or dist.get_world_size() == 1:
        return
    buckets = {}
    for p in params:
        if p.grad is None:
            continue
        if p.dtype not in buckets:
            buckets[p.dtype] = []
        buckets[p.dtype].append(p)
    for key in buckets:
        grads = [p.grad.data for p in buckets[key]]
        flat = _flatten_dense_tensors(grads)
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        for old, new in zip(grads, _unflatten_dense_tensors(flat, grads)):
            old.copy_(new)


def other():
    return dist.get_rank()
