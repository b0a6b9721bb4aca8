# Reported: with another seed, each rank would have other data to fit, not a part of them
# Options: --suggested

import torch

torch.manual_seed(args.seed)
x, y = torch.randn(64, 2), torch.randn(64, 1)
for step in range(100):
    (model(x) - y).pow(2).mean().backward()
    optimizer.step()
