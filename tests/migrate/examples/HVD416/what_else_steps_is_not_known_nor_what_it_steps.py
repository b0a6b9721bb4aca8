# Kept: what else steps is not known, nor what it steps

import torch
from somewhere import make_optimizer

model, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
optimizer = make_optimizer(head)
for x in batches:
    head(model(x)).sum().backward()
    optimizer.step()
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
