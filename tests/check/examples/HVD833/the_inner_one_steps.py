# Reported: the inner one steps

import horovod.torch as hvd
import torch

hvd.init()
inner = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(inner)
for x in batches:
    model(x).sum().backward()
    inner.step()
