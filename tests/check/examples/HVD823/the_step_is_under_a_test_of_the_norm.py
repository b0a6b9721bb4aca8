# Reported: the gradients are clipped before the test that the step is under

import math

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
batches = torch.randn(32, 4)[hvd.rank() :: hvd.size()].split(4)

for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if math.isfinite(norm):
        optimizer.step()
