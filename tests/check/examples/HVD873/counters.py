# Kept: steps and epochs are counted alike, whatever is printed in between

import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loader = DataLoader(data, sampler=DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank()))
held = DataLoader(test, sampler=DistributedSampler(test, num_replicas=hvd.size(), rank=hvd.rank()))
step, start = 0, 0
if hvd.rank() == 0:
    start = torch.load("checkpoint")["epoch"]
start = hvd.broadcast_object(start, root_rank=0)
for epoch in range(start, 20):
    for number, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        step += 1
        if hvd.rank() == 0 and number % 10 == 0:
            print(loss.item())
        if x.size(0) < 8 or step >= 1000:
            break
    if step >= 1000:
        break
