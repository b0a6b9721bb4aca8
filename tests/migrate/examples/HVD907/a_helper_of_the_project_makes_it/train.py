# Kept: a helper of the project makes it

import torch
from start import setup
from torch.nn.parallel import DistributedDataParallel as DDP

setup()
model = DDP(torch.nn.Linear(2, 1))
model(x).sum().backward()
