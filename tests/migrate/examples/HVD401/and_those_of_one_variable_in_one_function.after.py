import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 2))
first = torch.optim.SGD(model.parameters(), lr=0.1)
first = hvd.DistributedOptimizer(first, named_parameters=model.named_parameters(prefix="first.model"))
generator = model
model = DDP(torch.nn.Linear(2, 1))
second = torch.optim.SGD(model.parameters(), lr=0.1)
second = hvd.DistributedOptimizer(second, named_parameters=model.named_parameters(prefix="second.model"))
