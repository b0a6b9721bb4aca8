# Changed: A program of one process that may step by hand: both steps get averages.

import torch

model = torch.nn.Linear(2, 1)
if args.adam:
    optimizer = torch.optim.Adam(model.parameters())
for x in batches:
    model.zero_grad()
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if args.adam:
        optimizer.step()
    else:
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-args.lr)
