# Changed: Tensors that are no model's, in a function of the script.

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
    descend([weight, bias], 0.1)
