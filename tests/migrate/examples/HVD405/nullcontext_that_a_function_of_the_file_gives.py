# Changed: What a function of the file gives is nullcontext() where that is all it gives.

import contextlib
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def nothing():
    return contextlib.nullcontext()

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    context = model.no_sync() if not last else nothing()
    with context:
        model(x).sum().backward()
    if last:
        optimizer.step()
