# Kept: DDP does not wrap what this optimizer trains

import torch
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

net, head = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
ddp = DDP(net)
optimizer = make_optimizer(params=head.parameters(), name="Adam")
for batch in batches:
    for x in batch.split(4):
        (ddp(x) + head(x)).sum().backward()
    optimizer.step()
