# Changed: Lists that were looked at, or that hold tensors known elsewhere, are filled.

import torch
import torch.distributed as dist

def gather(x, outs):
    rows = [torch.zeros_like(x) for _ in range(2)]
    print(rows)
    dist.all_gather(rows, x)
    dist.all_gather([out.view(-1) for out in outs], x)
    mixed = [x, torch.empty_like(x)]
    dist.all_gather(mixed, x)
    return rows, mixed
