import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net, probe = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(prefix="model"))
# hvdkit: TODO[HVD401] wrap it in hvd.DistributedOptimizer if the ranks should agree; otherwise leave it
own = torch.optim.SGD(probe.parameters(), lr=0.1)
