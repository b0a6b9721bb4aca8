# Reported: as many, by a test

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
mine = [thing for number, thing in enumerate(things) if number % hvd.size() == hvd.rank()]
for epoch in range(2):
    for x in mine:
        model(x).sum().backward()
        optimizer.step()
