import horovod.torch as hvd
import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = make_optimizer(model)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
