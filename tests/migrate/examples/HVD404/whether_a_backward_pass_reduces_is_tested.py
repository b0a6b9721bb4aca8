# Changed: Whether a backward pass reduces is tested; where the step is taken, the gradients are waited for
# above what looks at them.

import torch
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    with nullcontext() if i % 4 == 3 else model.no_sync():
        model(x).sum().backward()
    if i % 4 == 3:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
