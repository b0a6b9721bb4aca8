# Changed: A parameter that some rank used gets a gradient on all; one that no rank used stays without, as
# in DDP.

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=True)
optimizer = make_optimizer(model)
model(x).sum().backward()
optimizer.step()
