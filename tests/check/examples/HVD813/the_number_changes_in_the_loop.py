# Kept: the number changes in the loop

import horovod.torch as hvd
from torch.utils.data import DataLoader, DistributedSampler

hvd.init()
sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank())
loader = DataLoader(data, sampler=sampler)
round = 0
while round < 3:
    sampler.set_epoch(round)
    for x in loader:
        model(x).sum().backward()
    round += 1
