# Reported: both have one name, and their gradients would have one name, too

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
extra = torch.nn.Parameter(torch.ones(2))

def weights():
    optimizer = torch.optim.SGD([extra, model.module.weight], lr=0.1)
    return optimizer, 0.1

def biases():
    optimizer = torch.optim.SGD([extra, model.module.bias], lr=0.2)
    return optimizer, 0.2
