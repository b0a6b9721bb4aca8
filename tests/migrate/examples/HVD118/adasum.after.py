import sys

import torch
import hvdkit.torch as hvd

hvd.init()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# hvdkit: TODO[HVD118] without Horovod, op=hvd.Average
optimizer = hvd.DistributedOptimizer(optimizer, op=hvd.Adasum if "--adasum" in sys.argv else hvd.Average)
