import torch
from torch.utils.data import DataLoader

def train(loader, epoch):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()

loader = DataLoader(data, shuffle=True)
epoch = 0
while epoch < 3:
    loader.sampler.set_epoch(epoch)
    train(loader, epoch)
    epoch += 1
for i, lr in enumerate((0.1, 0.01)):
    loader.sampler.set_epoch(i)
    train(loader, i)
