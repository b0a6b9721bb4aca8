from contextlib import nullcontext

import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    with model.no_sync() if i % 4 else nullcontext():
        model(x).sum().backward()
        if not (i % 4):
            handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
            for handle in handles:
                hvd.synchronize(handle)
        optimizer.step()
    optimizer.zero_grad()
