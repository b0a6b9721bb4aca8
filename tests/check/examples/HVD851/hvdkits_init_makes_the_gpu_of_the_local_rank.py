# Kept: hvdkit's init() makes the GPU of the local rank the current one

import hvdkit.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 2).cuda()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for x in batches:
    model(x).sum().backward()
    optimizer.step()
