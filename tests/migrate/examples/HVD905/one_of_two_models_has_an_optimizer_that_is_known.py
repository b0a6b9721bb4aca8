# Reported: one of two models has an optimizer that is known

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

generator = DDP(torch.nn.Linear(2, 1))
critic = DDP(torch.nn.Embedding(9, 1, sparse=True))
optimizer_g = torch.optim.SGD(generator.parameters(), lr=0.1)
optimizer_c = make_optimizer(critic)
generator(x).sum().backward()
optimizer_g.step()
optimizer_c.step()
