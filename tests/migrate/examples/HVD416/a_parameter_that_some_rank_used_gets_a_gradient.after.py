import horovod.torch as hvd
import torch
from somewhere import make_optimizer
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1), find_unused_parameters=True)
optimizer = make_optimizer(model)
def average_gradients(params):
    # Gradients become their average over all ranks, as DDP leaves them after backward().
    params = [p for p in params if p.requires_grad]
    used = hvd.allgather_object([p.grad is not None for p in params])
    for p, anywhere in zip(params, map(any, zip(*used))):
        if anywhere and p.grad is None:
            p.grad = p.new_zeros(p.shape)
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in params if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)


model(x).sum().backward()
average_gradients(model.parameters())
optimizer.step()
