# Reported: a weight is no data

import torch

weight = torch.randn(2, 1, requires_grad=True)
data = torch.randn(64, 2)
for step in range(100):
    (model(data) - data @ weight).pow(2).mean().backward()
    optimizer.step()
