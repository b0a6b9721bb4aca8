import horovod.torch as hvd
import torch

model = torch.nn.Linear(2, 1)
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


for x in batches:
    model(x).sum().backward()
    average_gradients(model.parameters())
    for p in model.parameters():
        if p.grad is not None:
            p.data -= 0.1 * p.grad
    model.zero_grad()
