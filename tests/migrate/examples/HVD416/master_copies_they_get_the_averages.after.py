import horovod.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1).half())
masters = [p.detach().clone().float() for p in model.parameters()]
optimizer = torch.optim.SGD(masters, lr=0.1)
for x in batches:
    model(x).sum().backward()
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in model.parameters() if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)
    for master, p in zip(masters, model.parameters()):
        master.grad = p.grad.float()
    optimizer.step()
