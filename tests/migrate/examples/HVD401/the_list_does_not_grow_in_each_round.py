# Reported: the list does not grow in each round, so its length does not tell the optimizers apart

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

optimizers = []
for size in (1, 2):
    model = DDP(torch.nn.Linear(2, size))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    every[size] = optimizer
    if size > 1:
        optimizers.append(optimizer)
