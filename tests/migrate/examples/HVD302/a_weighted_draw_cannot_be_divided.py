# Reported: a weighted draw that takes no sample twice cannot be divided (hvd.distribute can)

import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

for x in DataLoader(data, 8, sampler=WeightedRandomSampler(weights, 100, replacement=False)):
    model(x).backward()
    optimizer.step()
