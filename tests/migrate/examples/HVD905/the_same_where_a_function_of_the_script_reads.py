# Reported: the same, where a function of the script reads the gradients

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def gradient_or_zeros(p):
    return torch.zeros_like(p) if p.grad is None else p.grad.detach()

model = DDP(torch.nn.Linear(2, 1).half())
master = torch.nn.Parameter(torch.cat([p.detach().float().view(-1) for p in model.parameters()]))
optimizer = torch.optim.SGD([master], lr=0.1)
for x in batches:
    model(x).sum().backward()
    master.grad = torch.cat([gradient_or_zeros(p).float().view(-1) for p in model.parameters()])
    optimizer.step()
