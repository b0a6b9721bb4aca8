import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def generator():
    model = DDP(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(prefix="generator.model"))
    return model, optimizer

def critic():
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(prefix="critic.model"))
    return model, optimizer
