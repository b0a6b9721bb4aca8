# Changed: shuffle, given by position, moves too.

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, 8, True, num_workers=2)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
