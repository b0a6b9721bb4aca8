# Changed: a mask cuts the data in two, and each rank would draw its own

import numpy as np
import torch
from torch.utils.data import DataLoader, Subset

data = torch.arange(100.0).reshape(100, 1)
chosen = np.random.rand(len(data)) < 0.8
noise = torch.rand(8, 1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(Subset(data, np.flatnonzero(chosen)), batch_size=8, shuffle=True):
    model(x + noise).sum().backward()
    optimizer.step()
