# Kept: the class is no module, so names of the model are its own; the other one was never wrapped

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, net, other):
        self.net = DDP(net)
        self.other = other
        self.other.load_state_dict(torch.load("other.pt"), strict=False)

Trainer(net, torch.nn.Linear(2, 1))
loss.backward()
