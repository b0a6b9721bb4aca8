# Kept: what is trained is unfrozen before the optimizer is made

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net = torch.nn.Linear(2, 1)
for p in net.parameters():
    p.requires_grad = False
net.weight.requires_grad = True
net = DDP(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    net(x).sum().backward()
