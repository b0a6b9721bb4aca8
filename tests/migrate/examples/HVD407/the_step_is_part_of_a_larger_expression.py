# Reported: the step is part of a larger expression

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def closure():
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    return loss

for x in batches:
    print(optimizer.step(closure).item())
