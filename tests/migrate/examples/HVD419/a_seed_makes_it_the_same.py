# Kept: the seed makes it the same on all ranks

import torch

torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
teacher = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
(model(x) - teacher(x).detach()).square().mean().backward()
