# Changed.

import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=8, shuffle=True)
for x in loader:
    model(x).sum().backward()
    optimizer.step()
