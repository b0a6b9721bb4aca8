# Reported: the context manager is handed on, and the other choice is one of the project's own

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def run(context, x):
    with context:
        model(x).sum().backward()

for i, x in enumerate(batches):
    context = model.no_sync() if i % 2 else quiet()
    run(context, x)
    if i % 2:
        optimizer.step()
