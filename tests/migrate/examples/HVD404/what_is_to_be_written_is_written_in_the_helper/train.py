# Changed: What is to be written is written in the helper.

import torch
from helpers import Scaler

optimizer = torch.optim.Adam(model.parameters())
scaler = Scaler()
for i, x in enumerate(batches):
    scaler(model(x).sum() / 4, optimizer, update=(i + 1) % 4 == 0)
    if (i + 1) % 4 == 0:
        optimizer.zero_grad()
