# Kept: every rank validates on all of the data, with equal weights

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test)


def validate():
    total = 0.0
    with torch.no_grad():
        for x, y in held:
            total += criterion(model(x), y).item()
    return total / len(held)


for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    if validate() < 0.1:
        break
