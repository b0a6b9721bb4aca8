# Changed: Of two functions that each return one, both get names of their own; a part of a wrapped model is
# a part of it.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Nets(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])

model = DDP(Nets())
extra = torch.nn.Parameter(torch.ones(2))

def weights():
    optimizer = torch.optim.SGD([extra, model.module.layers[0].weight], lr=0.1)
    return optimizer, 0.1

def biases():
    other = torch.optim.SGD([extra, model.module.layers[0].bias], lr=0.2)
    return other, 0.2
