# Changed: A comment between the arguments moves above the statement.

import torch
import torch.distributed as dist

def gather(tensors):
    found = []
    for tensor in tensors:
        parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
        dist.all_gather(
            parts,
            tensor,
            async_op=False  # performance opt
        )
        found.append(torch.cat(parts))
    return found
