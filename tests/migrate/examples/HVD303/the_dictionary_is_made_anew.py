# Changed: The dictionary is made anew in each epoch: the epoch is set above the loop over batches.

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    loaders = {"train": DataLoader(train_set, batch_size=8, shuffle=True)}
    for x, y in loaders["train"]:
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
