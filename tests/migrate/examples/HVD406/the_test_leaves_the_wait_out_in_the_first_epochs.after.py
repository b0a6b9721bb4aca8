import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    if epoch > 5:
        optimizer.synchronize()
    optimizer.synchronize()
    optimizer.zero_grad()
    for i, x in enumerate(batches):
        model.require_backward_grad_sync = i % 4 == 3
        model(x).sum().backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
