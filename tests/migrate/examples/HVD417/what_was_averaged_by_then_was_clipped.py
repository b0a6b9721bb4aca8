# Kept: what was averaged by then was clipped, and the rest added to it

import torch
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Linear(2, 1)
ddp = DDP(net)
optimizer = make_optimizer(params=net.parameters(), name="Adam")
for batch in batches:
    ddp(batch).sum().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    for x in batch.split(4):
        ddp(x).sum().backward()
    optimizer.step()
