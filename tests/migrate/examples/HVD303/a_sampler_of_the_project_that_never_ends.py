# Kept: a sampler of the project that never ends, and has nothing that could be told

import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler

class Endless(Sampler):
    def __init__(self, data, rank, size):
        self.data, self.rank, self.size = data, rank, size

    def __iter__(self):
        index = self.rank
        while True:
            yield index % len(self.data)
            index += self.size

dist.init_process_group("gloo")
sampler = Endless(data, dist.get_rank(), dist.get_world_size())
batches = iter(DataLoader(data, sampler=sampler))
while True:
    model(next(batches)).sum().backward()
    optimizer.step()
