# Changed: A helper makes the groups of any model: each optimizer has that of its own call.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def groups(module):
    return [dict(params=[p for p in module.parameters() if p.ndim > 1])]

one, two = DDP(torch.nn.Linear(2, 2)), DDP(torch.nn.Linear(2, 1))
first = torch.optim.SGD(groups(one), lr=0.1)
second = torch.optim.SGD(groups(two), lr=0.1)
