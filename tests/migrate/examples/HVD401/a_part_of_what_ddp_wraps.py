# Changed: A part of what DDP wraps: a list, a module that holds it, an attribute of it.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Pair(torch.nn.Module):
    def __init__(self, one):
        super().__init__()
        self.one = one
        self.two = torch.nn.Linear(2, 1)

one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
pair = DDP(Pair(one))
rest = DDP(torch.nn.ModuleList([two]))
first = torch.optim.SGD(one.parameters(), lr=0.1)
second = torch.optim.SGD(two.parameters(), lr=0.1)
third = torch.optim.SGD(pair.module.two.parameters(), lr=0.1)
