# Changed: What lets zero_grad() run does not decide about the step.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def update():
    optimizer.step()

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    model.require_backward_grad_sync = i % 4 == 3
    model(x).sum().backward()
    if i % 4 == 3:
        update()
    clear = i % 8 == 1
    if clear:
        optimizer.zero_grad()
