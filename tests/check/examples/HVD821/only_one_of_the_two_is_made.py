# Kept: only one of the two is made

import horovod.torch as hvd
import torch

hvd.init()
if adam:
    optimizer = hvd.DistributedOptimizer(torch.optim.Adam(model.parameters()))
else:
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
