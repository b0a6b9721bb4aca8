# Kept: DDP averages over some of the ranks

import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1), process_group=torch.distributed.new_group([0, 1]))
optimizer = make_optimizer(model)
model(x).sum().backward()
optimizer.step()
