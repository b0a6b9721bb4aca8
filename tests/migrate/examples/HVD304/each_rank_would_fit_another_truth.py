# Reported: each rank would fit another truth

import torch

wanted = torch.load('truth.pt') @ torch.randn(2, 1)
data = torch.randn(64, 2)
for step in range(100):
    (model(data) - wanted).pow(2).mean().backward()
    optimizer.step()
