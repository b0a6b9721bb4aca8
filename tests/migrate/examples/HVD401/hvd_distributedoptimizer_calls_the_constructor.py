# Reported: hvd.DistributedOptimizer calls the constructor of what it is given, which is no optimizer's

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Grouped:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    @classmethod
    def create(cls, kind, model):
        return cls(kind(model.parameters()))

    def step(self):
        self.optimizer.step()

def build(model, kind):
    if kind == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    else:
        optimizer = Grouped.create(torch.optim.Adam, model)
    return optimizer

model = torch.nn.Linear(2, 1)
optimizer = build(model, "adam")
model = DDP(model)
