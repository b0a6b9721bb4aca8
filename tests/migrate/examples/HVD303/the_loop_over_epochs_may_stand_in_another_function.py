# Changed: The loop over epochs may stand in another function, and count by itself.

import torch
from torch.utils.data import DataLoader

def train(loader, epoch):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()

loader = DataLoader(data, shuffle=True)
epoch = 0
while epoch < 3:
    train(loader, epoch)
    epoch += 1
for i, lr in enumerate((0.1, 0.01)):
    train(loader, i)
