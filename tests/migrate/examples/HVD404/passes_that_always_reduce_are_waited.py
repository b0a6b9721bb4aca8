# Changed: Passes that always reduce are waited for where they are, those that a test decides about before
# the step.

import torch
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x in first:
    model(x).sum().backward()
model.zero_grad()
for i, x in enumerate(batches):
    last = i % 4 == 3
    with nullcontext() if last else model.no_sync():
        scaler.scale(model(x).sum()).backward()
    if last:
        scaler.step(optimizer)
        scaler.update()
