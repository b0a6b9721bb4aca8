# Reported: array_split makes the first parts longer

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
parts = np.array_split(things, hvd.size())
for epoch in range(2):
    for x in parts[hvd.rank()]:
        model(x).sum().backward()
        optimizer.step()
