# Kept: each rank may have gradients of other parameters, and would wait for those of the others

import torch
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Linear(2, 1)
ddp = DDP(net, find_unused_parameters=True)
optimizer = make_optimizer(params=net.parameters(), name="Adam")
for batch in batches:
    for x in batch.split(4):
        ddp(x).sum().backward()
    optimizer.step()
