# Reported: a helper unfreezes after the first epoch

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def thaw(net):
    for p in net.parameters():
        p.requires_grad = True

net = DDP(torch.nn.Linear(2, 1))
for p in net.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    if epoch == 1:
        thaw(net)
    net(x).sum().backward()
