import horovod.torch as hvd
import torch

def descend(tensors, rate):
    with torch.no_grad():
        for tensor in tensors:
            tensor -= rate * tensor.grad
            tensor.grad.zero_()

weight = torch.randn(2, 1, requires_grad=True)
bias = torch.zeros(1)
bias.requires_grad_()
for x in batches:
    (x @ weight + bias).sum().backward()
    handles = [hvd.allreduce_async_(p.grad, op=hvd.Average) for p in [bias, weight] if p.grad is not None]
    for handle in handles:
        hvd.synchronize(handle)
    descend([weight, bias], 0.1)
