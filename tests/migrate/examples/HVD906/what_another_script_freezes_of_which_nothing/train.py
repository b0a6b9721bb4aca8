# Kept: what another script freezes, of which nothing is known, is not in this program

import torch
from helpers import grads
from torch.nn.parallel import DistributedDataParallel as DDP

critic = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for batch in range(3):
    grads(critic)
    critic(x).sum().backward()
