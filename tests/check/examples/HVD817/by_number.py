# Reported: every size-th number, through a function

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))


def train(numbers):
    for number in numbers:
        model(things[number]).sum().backward()
        optimizer.step()


train(range(hvd.rank(), len(things), hvd.size()))
