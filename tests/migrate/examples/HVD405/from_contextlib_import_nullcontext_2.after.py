import hvdkit.torch as hvd
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, x in enumerate(batches):
    with hvd.accumulate(optimizer, (i + 1) % 4):
        (model(x).sum() / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
