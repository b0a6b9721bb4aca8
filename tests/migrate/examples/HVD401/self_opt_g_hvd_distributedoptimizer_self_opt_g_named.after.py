import itertools
import horovod.torch as hvd
import torch

class Trainer:
    def __init__(self, a, b, c):
        self.opt_g = torch.optim.Adam(a.parameters())
        self.opt_g = hvd.DistributedOptimizer(self.opt_g, named_parameters=a.named_parameters(prefix="a"))
        self.opt_d = torch.optim.Adam(itertools.chain(b.parameters(), c.parameters()))
        self.opt_d = hvd.DistributedOptimizer(self.opt_d, named_parameters=[*b.named_parameters(prefix="b"), *c.named_parameters(prefix="c")])
        a(x).sum().backward()
