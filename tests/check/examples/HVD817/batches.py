# Reported: nine samples and eight, in batches of eight

import math

import horovod.torch as hvd
import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
data = TensorDataset(torch.randn(17, 3))
loader = DataLoader(Subset(data, range(hvd.rank(), 17, hvd.size())), batch_size=8)
for epoch in range(2):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
