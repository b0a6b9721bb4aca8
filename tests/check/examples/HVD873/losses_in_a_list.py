# Reported: the mean of what a list was filled with

import numpy as np

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
for epoch in range(20):
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if np.mean(losses) < 0.1:
        break
