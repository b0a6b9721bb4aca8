# Reported: it is another script that gives the class a sampler which shares the data out

import torch
from torch.utils.data import DataLoader, RandomSampler
from batches import InGroups

loader = DataLoader(data, batch_sampler=InGroups(RandomSampler(data)))
for x in loader:
    model(x).sum().backward()
    optimizer.step()
