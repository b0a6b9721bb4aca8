# Reported: the last block is shorter

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
each = math.ceil(len(things) / hvd.size())
mine = things[hvd.rank() * each : (hvd.rank() + 1) * each]
for epoch in range(2):
    for x in mine:
        model(x).sum().backward()
        optimizer.step()
