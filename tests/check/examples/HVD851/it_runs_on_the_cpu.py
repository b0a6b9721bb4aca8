# Kept: it runs on the CPU

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 2)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for x in batches:
    model(x).sum().backward()
    optimizer.step()
