# Changed: One model, two optimizers: both are told.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
first = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" in n], lr=0.1)
second = torch.optim.SGD([p for n, p in model.named_parameters() if "bias" not in n], lr=0.1)
for i, x in enumerate(batches):
    model.require_backward_grad_sync = i % 2 == 1
    model(x).sum().backward()
    if i % 2 == 1:
        first.step()
        second.step()
        model.zero_grad()
