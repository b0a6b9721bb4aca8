import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    optimizer.set_backward_passes_per_step(2)
    model(x).sum().backward()
    optimizer.set_backward_passes_per_step(1)
    model(y).sum().backward()
    optimizer.step()
