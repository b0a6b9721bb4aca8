# Changed.

from contextlib import nullcontext
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    if i % 4 == 3:
        context = nullcontext()
    else:
        context = model.no_sync()
    with torch.autocast("cpu"), context:
        model(x).sum().backward()
    if i % 4 == 3:
        optimizer.step()
