import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.synchronize()
    if skip(x):
        continue
    with optimizer.skip_synchronize():
        optimizer.step()
