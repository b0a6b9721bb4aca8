import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
model(x).sum().backward()
handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
for handle in handles:
    hvd.synchronize(handle)
print(model.module.weight.grad)
