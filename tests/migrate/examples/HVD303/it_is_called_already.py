# Kept: it is called already

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
