# Reported: adding it changes the order that this DDP script trained with: only with --suggested

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("gloo")
loader = DataLoader(data, sampler=DistributedSampler(data))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
