# Kept: which parameters the optimizer takes of the model is not seen: HVD416 averages all, in each pass

import torch
from factory import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

ddp = DDP(torch.nn.Linear(2, 1))
optimizer = make_optimizer(ddp)
for batch in batches:
    for x in batch.split(4):
        ddp(x).sum().backward()
    optimizer.step()
