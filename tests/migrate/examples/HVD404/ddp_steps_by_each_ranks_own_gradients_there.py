# Reported: DDP steps by each rank's own gradients there, and Horovod's optimizer would average: HVD416 does
# not

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in batches:
    with model.no_sync():
        for x in batch[1:]:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    optimizer.zero_grad()
    model(batch[0]).sum().backward()
    optimizer.step()
