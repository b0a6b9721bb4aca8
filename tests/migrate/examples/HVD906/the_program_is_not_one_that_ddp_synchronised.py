# Kept: the program is not one that DDP synchronised

import torch

net = torch.nn.Linear(2, 1)
net.requires_grad_(False)
for epoch in range(3):
    net.requires_grad_(True)
    net(x).sum().backward()
