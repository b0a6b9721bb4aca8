# Changed: Two models that have one name in two functions are told apart by the functions.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def generator():
    model = DDP(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer

def critic():
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer
