# Kept: every rank draws its own random numbers

import horovod.torch as hvd
import torch

torch.manual_seed(1 + hvd.rank())
for step in range(100):
    model(torch.randn(8, 2)).sum().backward()
    optimizer.step()
