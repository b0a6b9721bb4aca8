# Changed.
# Options: --target hvdkit

from contextlib import nullcontext
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    with model.no_sync() if (i + 1) % 4 else nullcontext():
        (model(x).sum() / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
