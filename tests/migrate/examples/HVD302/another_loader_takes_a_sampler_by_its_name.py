# Reported: only this loader's sampler is its own; what the others unpack has none

import torch
from torch.utils.data import DataLoader

options = {"num_workers": 2}
train = DataLoader(data, batch_size=8, shuffle=True, **options)
pairs = DataLoader(data, batch_sampler=Pairs(data), **options)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in pairs:
    model(x).sum().backward()
    optimizer.step()
