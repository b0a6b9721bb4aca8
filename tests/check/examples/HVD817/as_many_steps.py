# Kept: all ranks make as many steps as the one with the fewest

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
mine = things[hvd.rank() :: hvd.size()]
steps = int(hvd.allreduce(torch.tensor(len(mine)), op=hvd.Min))
for number, x in enumerate(mine):
    if number == steps:
        break
    model(x).sum().backward()
    optimizer.step()
for number in range(steps):
    model(mine[number]).sum().backward()
    optimizer.step()
