# Kept: the function that waits returns before it where nothing is clipped

import os

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
batches = torch.randn(32, 4)[hvd.rank() :: hvd.size()].split(4)


def clipped(limit):
    if not limit:
        return False
    optimizer.synchronize()
    torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
    return True


for x in batches:
    model.zero_grad()
    model(x).sum().backward()
    if not clipped(float(os.environ.get("CLIP", "0"))):
        optimizer.step()
    else:
        with optimizer.skip_synchronize():
            optimizer.step()
