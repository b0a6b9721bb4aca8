# Kept: the groups stay shared while nothing is loaded

import horovod.torch as hvd
import torch

hvd.init()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
optimizer = hvd.DistributedOptimizer(optimizer)
