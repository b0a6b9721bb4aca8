# Reported: one of them keeps its .module, and the model has one, too

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.module = torch.nn.Linear(2, 1)

class Average:
    def __init__(self, net):
        self.module = net

def state(net):
    return net.module.state_dict()

model = DDP(Net())
state(model), state(Average(model))
