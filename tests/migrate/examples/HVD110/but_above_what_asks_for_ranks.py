# Changed: But above what asks for ranks, as in a notebook whose cells import what they need.

import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2)).sum().backward()
optimizer.step()

import math

math.sqrt(2)
