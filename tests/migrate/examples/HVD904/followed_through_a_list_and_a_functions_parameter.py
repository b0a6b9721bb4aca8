# Reported: followed through a list and a function's parameter

import torch
import torch.distributed as dist

def mean(tensor):
    dist.all_reduce(tensor)
    tensor /= dist.get_world_size()

found = []
for p in net.parameters():
    found.append(p.grad)
for g in found:
    mean(g)
