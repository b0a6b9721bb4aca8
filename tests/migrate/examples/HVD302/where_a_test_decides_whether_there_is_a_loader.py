# Changed: Where a test decides whether there is a loader, it decides on the sampler, too.

import torch
from torch.utils.data import DataLoader

data_loader = DataLoader(
    Digits(
        "data",
    ),
    batch_size=8,
    shuffle=True,
)
more = DataLoader(extra) if extra is not None else None
for x in data_loader:
    model(x).sum().backward()
    optimizer.step()
for x in more or ():
    model(x).sum().backward()
