# Kept: zero_grad() is reached only where what decided about the step was true

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def backward(loss, update):
    loss.backward()
    if update:
        optimizer.step()

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    last = i % 4 == 3
    model.require_backward_grad_sync = last
    backward(model(x).sum(), last)
    if not last:
        continue
    optimizer.zero_grad()
