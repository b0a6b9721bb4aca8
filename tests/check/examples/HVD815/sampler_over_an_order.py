# Changed: a sampler numbers what is in another order on every rank
# Options: --suggested

import glob
import random

import horovod.torch as hvd
import torch

hvd.init()
order = torch.randperm(len(data))
share = torch.utils.data.Subset(data, order.tolist())
sampler = torch.utils.data.DistributedSampler(share, num_replicas=hvd.size(), rank=hvd.rank())
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
