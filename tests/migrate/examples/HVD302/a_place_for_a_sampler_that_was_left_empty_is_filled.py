# Changed: A place for a sampler that was left empty is filled.

import torch
from torch.utils.data import DataLoader

def loaders(data, rest):
    sampler = None
    return DataLoader(data, shuffle=(sampler is None), sampler=sampler), DataLoader(rest)

train, test = loaders(digits, others)
for x in train:
    model(x).sum().backward()
    optimizer.step()
