# Reported: one rank skips the batch whose loss is a NaN

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if torch.isnan(loss):
        continue
    loss.backward()
    optimizer.step()
