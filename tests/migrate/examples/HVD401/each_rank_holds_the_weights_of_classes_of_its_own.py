# Reported: each rank holds the weights of classes of its own: an average of them is of no use

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Classes(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(classes // dist.get_world_size(), 2))

backbone = DDP(torch.nn.Linear(2, 2))
head = Classes(100)
optimizer = torch.optim.SGD([{"params": backbone.parameters()}, {"params": head.parameters()}], lr=0.1)
