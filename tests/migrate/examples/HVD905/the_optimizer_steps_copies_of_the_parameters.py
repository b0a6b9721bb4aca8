# Reported: the optimizer steps copies of the parameters, which backward() never reaches

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Embedding(9, 1, sparse=True).half())
masters = [p.detach().clone().float() for p in model.parameters()]
optimizer = torch.optim.SGD(masters, lr=0.1)
for x in batches:
    model(x).sum().backward()
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.float()
    optimizer.step()
