# Kept: things are repeated until they divide

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
things = list(find())
things += things[: -len(things) % hvd.size()]
for epoch in range(2):
    for x in things[hvd.rank() :: hvd.size()]:
        model(x).sum().backward()
        optimizer.step()
