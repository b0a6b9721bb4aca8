import horovod.torch as hvd
import torch
import torch.distributed as dist

def gather(tensors):
    found = []
    for tensor in tensors:
        parts = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
        # performance opt
        parts[:] = hvd.allgather(tensor.detach().unsqueeze(0)).unbind(0)
        found.append(torch.cat(parts))
    return found
