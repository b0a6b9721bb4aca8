# Kept: hvdkit's clipping waits by itself; after the step there is nothing to wait for

import hvdkit.torch as hvd
import torch

hvd.init()
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for x in batches:
    model(x).sum().backward()
    hvd.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
