# Kept: every backward pass has its step

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for i, x in enumerate(batches):
    model(x).sum().backward()
    optimizer.step()
    if i % 10 == 0:
        print(i)
