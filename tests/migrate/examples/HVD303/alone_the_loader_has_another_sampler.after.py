import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
loader = DataLoader(data, sampler=sampler)
for epoch in range(3):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    for x in loader:
        model(x).sum().backward()
