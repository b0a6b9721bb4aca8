# Reported: each fold counts from nought, and gradients of two folds would have the same names

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

folds = []
for fold in range(2):
    optimizers = []
    for size in (1, 2):
        model = DDP(torch.nn.Linear(2, size))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizers.append(optimizer)
    folds.append(optimizers)
