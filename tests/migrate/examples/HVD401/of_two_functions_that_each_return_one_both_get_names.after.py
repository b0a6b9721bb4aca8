import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Nets(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])

model = DDP(Nets())
extra = torch.nn.Parameter(torch.ones(2))

def weights():
    optimizer = torch.optim.SGD([extra, model.module.layers[0].weight], lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=[(f"optimizer.{i}", p) for i, p in enumerate(p for group in optimizer.param_groups for p in group["params"])])
    return optimizer, 0.1

def biases():
    other = torch.optim.SGD([extra, model.module.layers[0].bias], lr=0.2)
    other = hvd.DistributedOptimizer(other, named_parameters=[(f"other.{i}", p) for i, p in enumerate(p for group in other.param_groups for p in group["params"])])
    return other, 0.2
