# Reported: the norm is taken before anything could wait for the averages: below the call is too late

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def backward(loss, params):
    loss.backward()
    return sum(p.grad.norm() ** 2 for p in params) ** 0.5

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    norm = backward(model(x).sum(), list(model.parameters()))
    if norm < 10:
        optimizer.step()
