# Changed: Master copies: they get the averages.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1).half())
masters = [p.detach().clone().float() for p in model.parameters()]
optimizer = torch.optim.SGD(masters, lr=0.1)
for x in batches:
    model(x).sum().backward()
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.float()
    optimizer.step()
