# Changed: The samples that are picked become the data set; those that are held back are drawn whole.

import torch
from torch.utils.data import DataLoader
from torch.utils.data.sampler import SubsetRandomSampler

order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0)).tolist()
train_sampler = SubsetRandomSampler(order[100:])
loader = DataLoader(data, batch_size=8, sampler=train_sampler)
held_back = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(order[:100]))
for epoch in range(3):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
