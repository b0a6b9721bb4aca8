# Changed: The test is never true, so nothing was averaged: what was meant is suggested, and told.
# Options: --suggested

import torch
import torch.distributed as dist

def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        if type(param) is torch.Tensor:
            dist.all_reduce(param.grad.data, op=dist.reduce_op.SUM, group=0)
            param.grad.data /= size

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
average_gradients(model)
optimizer.step()
