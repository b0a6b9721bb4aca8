# Reported: the condition of a while is such a number

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


score = 1.0
while score > 0.1:
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    score = validate()
