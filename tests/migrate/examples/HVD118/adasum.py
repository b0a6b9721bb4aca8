# Changed: what torch.distributed does not offer is named
# Options: --target hvdkit

import sys

import torch
from horovod import torch as hvd

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Adasum if "--adasum" in sys.argv else hvd.Average)
