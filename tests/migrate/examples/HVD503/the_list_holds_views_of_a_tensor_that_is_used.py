# Changed: The list holds views of a tensor that is used afterwards: they are filled.

import torch
import torch.distributed as dist

@torch.no_grad()
def everyone(part, whole):
    parts = list(whole.unbind(0))
    work = dist.all_gather(parts, part, async_op=True)
    work.wait()
    return whole
