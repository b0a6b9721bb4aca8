# Reported: where the backward pass is was not found: after it, every rank has to wait

import torch
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x in batches:
    library.differentiate(scaler.scale(model(x).sum()))
    scaler.step(optimizer)
    scaler.update()
