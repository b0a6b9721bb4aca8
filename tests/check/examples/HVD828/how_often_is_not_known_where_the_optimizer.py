# Reported: how often is not known where the optimizer is wrapped

import horovod.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for i, x in enumerate(batches):
    model(x).sum().backward()
    if (i + 1) % args.every == 0:
        optimizer.step()
