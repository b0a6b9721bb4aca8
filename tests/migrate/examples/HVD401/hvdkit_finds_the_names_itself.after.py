import hvdkit.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1)), model.module.weight], lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer)
