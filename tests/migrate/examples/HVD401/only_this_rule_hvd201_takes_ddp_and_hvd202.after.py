import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)))
optimizer = torch.optim.SGD(model.module.head.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.head.named_parameters())
