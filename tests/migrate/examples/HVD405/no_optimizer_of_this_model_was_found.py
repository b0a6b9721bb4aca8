# Reported: no optimizer of this model was found

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
for x, y in batches:
    with model.no_sync():
        model(x).sum().backward()
    model(y).sum().backward()
