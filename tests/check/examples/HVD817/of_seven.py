# Reported: seven do not divide by two

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
things = [torch.randn(4, 3) for _ in range(7)]
mine = things[hvd.rank() :: hvd.size()]
for epoch in range(2):
    for x in mine:
        model(x).sum().backward()
        optimizer.step()
