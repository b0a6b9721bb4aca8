# Reported: without the setting there is no optimizer that could reduce the gradients

import torch

model = torch.nn.Linear(2, 1)
if args.use_optimizer:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in data:
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if args.use_optimizer:
        optimizer.step()
    else:
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.1)
