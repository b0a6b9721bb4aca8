# Reported: a class of the project counts epochs without a better score

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))


def validate():
    total = 0.0
    with torch.no_grad():
        for x, y in held:
            total += criterion(model(x), y).item()
    return total / len(held)


class Stopper:
    def __init__(self, patience):
        self.patience = patience
        self.best = None
        self.waited = 0

    def done(self, score):
        if self.best is None or score < self.best:
            self.best = score
            self.waited = 0
        else:
            self.waited += 1
        return self.waited >= self.patience


stopper = Stopper(3)
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    if stopper.done(validate()):
        break
