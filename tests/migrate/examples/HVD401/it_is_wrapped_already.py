# Kept: it is wrapped already

import horovod.torch as hvd
import torch

hvd.init()
opt = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
loss.backward()
