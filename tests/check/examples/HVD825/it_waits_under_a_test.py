# Kept: it waits only where it clips, and steps without waiting only then

import os

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
batches = torch.randn(32, 4)[hvd.rank() :: hvd.size()].split(4)

clip = float(os.environ.get("CLIP", "0"))
for x in batches:
    model.zero_grad()
    model(x).sum().backward()
    norm = None
    if clip > 0:
        optimizer.synchronize()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    if norm is None:
        optimizer.step()
    else:
        with optimizer.skip_synchronize():
            optimizer.step()
