# Changed: A group of all ranks, which nobody is seen to replace by another.

import torch.distributed as dist

def everybody():
    return dist.new_group(backend="gloo")

def gather(data, group=None):
    if group is None:
        group = everybody()
    if dist.get_world_size(group) == 1:
        return [data]
    print(dist.get_backend(group=group), dist.get_rank(group))
