# Reported: the optimizer that steps is what a function returns, which has no name to write again

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
batches = torch.randn(32, 4)[hvd.rank() :: hvd.size()].split(4)


def current():
    return optimizer


for x in batches:
    current().zero_grad()
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    current().step()
