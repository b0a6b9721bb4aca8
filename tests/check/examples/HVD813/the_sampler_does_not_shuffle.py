# Kept: the sampler does not shuffle

import horovod.torch as hvd
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=False)
for epoch in range(3):
    for x in DataLoader(data, sampler=sampler):
        model(x).sum().backward()
