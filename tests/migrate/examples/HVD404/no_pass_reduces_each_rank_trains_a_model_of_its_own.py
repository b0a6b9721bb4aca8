# Reported: no pass reduces: each rank trains a model of its own, and Horovod's step would average them

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in batches:
    optimizer.zero_grad()
    for x in batch:
        with model.no_sync():
            model(x).sum().backward()
    optimizer.step()
