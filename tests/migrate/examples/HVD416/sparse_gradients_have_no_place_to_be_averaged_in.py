# Kept: sparse gradients have no place to be averaged in

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Embedding(10, 2, sparse=True))
optimizer = make_optimizer(model)
model(x).sum().backward()
optimizer.step()
