# Reported: what another library's optimizer does with its closure is not known

import torch
from timm.optim import Lamb
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = Lamb(model.parameters(), lr=0.1)

def closure():
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    return loss

for x in batches:
    optimizer.step(closure)
