# Changed: A loader with a batch sampler has a sampler of its own that draws nothing.
# Options: --suggested

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

class Grouped(BatchSampler):
    def __init__(self, sampler, groups, batch_size):
        self.sampler = sampler
        self.groups, self.batch_size = groups, batch_size

    def __iter__(self):
        batches = in_groups(self.sampler, self.groups, self.batch_size)
        return iter(batches[: len(self)])

    def __len__(self):
        return len(self.sampler) // self.batch_size

sampler = None
if args.group:
    sampler = RandomSampler(data)
    loader = DataLoader(data, batch_sampler=Grouped(sampler, groups, 8))
else:
    loader = DataLoader(data, batch_size=8, shuffle=True)
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
