# Kept: the data are random numbers that nothing seeds: every process has its own

import torch

x, device = torch.ones(4, 2), "cpu"
data = torch.randn(64, 2)
wanted = torch.randn(64, 1)
for step in range(100):
    (model(data) - wanted).pow(2).mean().backward()
    optimizer.step()
