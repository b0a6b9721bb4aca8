import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Average:
    def __init__(self, net):
        self.module = net

def state(net):
    return getattr(net, "module", net).state_dict()

model = DDP(torch.nn.Linear(2, 1))
state(model), state(Average(model))
