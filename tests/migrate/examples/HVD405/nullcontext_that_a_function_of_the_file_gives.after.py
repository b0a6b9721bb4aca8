import contextlib
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def nothing():
    return contextlib.nullcontext()

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    last = (i + 1) % 4 == 0
    optimizer.set_backward_passes_per_step(2 if not last else 1)
    model(x).sum().backward()
    if last:
        optimizer.step()
