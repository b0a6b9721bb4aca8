# Reported: some of the tensors that come here are bytes, which Horovod does not sum, and some may be
# fractions

import torch
import torch.distributed as dist

def total_of(tensor):
    dist.all_reduce(tensor)
    return tensor

total_of(torch.ByteTensor(8))
total_of(loss.detach())
