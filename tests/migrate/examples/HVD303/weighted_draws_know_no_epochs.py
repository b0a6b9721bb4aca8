# Kept: weighted draws go on from epoch to epoch

import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

loader = DataLoader(data, batch_size=8, sampler=WeightedRandomSampler(weights, 100))
for epoch in range(2):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
