# Kept: the sampler is told the epoch by a function, where it has a name

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

def shuffle(loader, epoch):
    sampler = loader.sampler if plain else loader.batch_sampler.sampler
    if isinstance(sampler, DistributedSampler):
        sampler.set_epoch(epoch)

dist.init_process_group("gloo")
loader = DataLoader(data, sampler=DistributedSampler(data))
for epoch in range(3):
    shuffle(loader, epoch)
    for x in loader:
        model(x).sum().backward()
