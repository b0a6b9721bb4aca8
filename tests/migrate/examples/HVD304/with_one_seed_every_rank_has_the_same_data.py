# Reported: with one seed every rank has the same data

import torch

torch.manual_seed(1)
data = torch.randn(64, 2)
for step in range(100):
    (model(data) - 0).pow(2).mean().backward()
    optimizer.step()
