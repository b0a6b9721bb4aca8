# Changed: Alone, the loader has another sampler, which knows of no epochs.
# Options: --suggested

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
loader = DataLoader(data, sampler=sampler)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
