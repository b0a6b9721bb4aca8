# Kept: a batch sampler that makes its own order, and has nothing that could be told

import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler

class Buckets(Sampler):
    def __init__(self, data):
        self.bins = list(range(dist.get_rank(), len(data), dist.get_world_size()))

    def __iter__(self):
        return iter(self.bins)

dist.init_process_group("gloo")
loader = DataLoader(data, batch_sampler=Buckets(data))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
