# Kept: they are sent one by one

import horovod.torch as hvd
import torch

hvd.init()
model = torch.nn.Linear(2, 2)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
for p in model.parameters():
    hvd.broadcast_(p.data, root_rank=0)
