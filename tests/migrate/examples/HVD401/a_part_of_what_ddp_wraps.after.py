import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Pair(torch.nn.Module):
    def __init__(self, one):
        super().__init__()
        self.one = one
        self.two = torch.nn.Linear(2, 1)

one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
pair = DDP(Pair(one))
rest = DDP(torch.nn.ModuleList([two]))
first = torch.optim.SGD(one.parameters(), lr=0.1)
first = hvd.DistributedOptimizer(first, named_parameters=one.named_parameters(prefix="one"))
second = torch.optim.SGD(two.parameters(), lr=0.1)
second = hvd.DistributedOptimizer(second, named_parameters=two.named_parameters(prefix="two"))
third = torch.optim.SGD(pair.module.two.parameters(), lr=0.1)
third = hvd.DistributedOptimizer(third, named_parameters=pair.two.named_parameters(prefix="pair.two"))
