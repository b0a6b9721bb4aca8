# Reported: what no_sync() gives is used

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    with model.no_sync() as quiet:
        model(x).sum().backward()
    model(y).sum().backward()
    optimizer.step()
