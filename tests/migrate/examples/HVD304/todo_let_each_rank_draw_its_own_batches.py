# Changed.

import torch

torch.manual_seed(1)
for step in range(100):
    model(torch.randn(8, 2)).sum().backward()
    optimizer.step()
