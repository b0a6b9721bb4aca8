# Reported: what another library made cannot be seen to be an optimizer of this model

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Embedding(9, 1, sparse=True))
optimizer = make_optimizer(model)
model(x).sum().backward()
optimizer.step()
