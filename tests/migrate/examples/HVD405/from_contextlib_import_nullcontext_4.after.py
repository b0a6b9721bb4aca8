import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    if i % 4 == 3:
        optimizer.set_backward_passes_per_step(1)
    else:
        optimizer.set_backward_passes_per_step(2)
    with torch.autocast("cpu"):
        model(x).sum().backward()
    if i % 4 == 3:
        optimizer.step()
