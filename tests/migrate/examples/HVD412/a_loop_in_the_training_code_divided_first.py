# Changed: A loop in the training code, divided first. HVD404 writes what clipping needs.

import torch
import torch.distributed as dist

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
size = dist.get_world_size()
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    if size > 1:
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                p.grad.div_(size)
                dist.all_reduce(p.grad)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
