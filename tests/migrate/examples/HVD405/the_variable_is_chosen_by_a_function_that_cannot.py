# Reported: the variable is chosen by a function that cannot be followed

import torch
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    context = model.no_sync() if i % 2 else nullcontext()
    if i == 7:
        context = choose(model.no_sync)
    with context:
        model(x).sum().backward()
    if i % 2 == 0:
        optimizer.step()
