# Reported: one line of the function makes both, and their gradients would have the same names

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def make(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    return optimizer

one = make(DDP(torch.nn.Linear(2, 2)))
two = make(DDP(torch.nn.Linear(2, 1)))
