# Kept: the state of rank 0 is sent whole, and read on every rank

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
state = {"step": 0}
step = 0
if hvd.rank() == 0:
    state = torch.load("checkpoint")
    step = state["step"]
state = hvd.broadcast_object(state, root_rank=0)
step = state["step"]
while step < 1000:
    x, y = next(batches)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    step += 1
