# Reported: no two clocks pass the limit in the same batch

import time

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
started = time.time()
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    if time.time() - started > 3600:
        break
