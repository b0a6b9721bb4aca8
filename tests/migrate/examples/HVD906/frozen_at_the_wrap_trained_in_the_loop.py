# Reported: frozen at the wrap, trained in the loop

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = torch.nn.Linear(2, 1)
model = DDP(model)
model.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    model.requires_grad_(True)
    model(x).sum().backward()
    optimizer.step()
    model.requires_grad_(False)
