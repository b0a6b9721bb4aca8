# Kept: there is a DataLoader, which HVD302 shards

import torch
from torch.utils.data import DataLoader

for x in DataLoader(data):
    model(x).sum().backward()
