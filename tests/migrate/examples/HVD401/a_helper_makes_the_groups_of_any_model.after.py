import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def groups(module):
    return [dict(params=[p for p in module.parameters() if p.ndim > 1])]

one, two = DDP(torch.nn.Linear(2, 2)), DDP(torch.nn.Linear(2, 1))
first = torch.optim.SGD(groups(one), lr=0.1)
first = hvd.DistributedOptimizer(first, named_parameters=one.named_parameters(prefix="one"))
second = torch.optim.SGD(groups(two), lr=0.1)
second = hvd.DistributedOptimizer(second, named_parameters=two.named_parameters(prefix="two"))
