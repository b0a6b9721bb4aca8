# Kept: only one of the two runs

import horovod.torch as hvd
import torch

hvd.init()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if adasum:
    optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Adasum)
else:
    optimizer = hvd.DistributedOptimizer(optimizer)
