# Reported: a comment stands inside the data set

import torch
from torch.utils.data import DataLoader

loader = DataLoader(
    Folder(
        "train",  # the small one
    ),
    batch_size=4,
    shuffle=True,
)
for epoch in range(3):
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
