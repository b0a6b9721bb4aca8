# Kept: nothing is averaged in this loop

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for thing in things[hvd.rank() :: hvd.size()]:
    prepare(thing)
for x in DataLoader(things, sampler=torch.utils.data.DistributedSampler(things, hvd.size(), hvd.rank())):
    model(x).sum().backward()
    optimizer.step()
