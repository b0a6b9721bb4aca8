# Changed: Class weights of a share differ from rank to rank; what runs the model, or looks at one batch,
# sums nothing up.

import torch
from torch.utils.data import DataLoader

def frequencies(loader):
    counts = torch.zeros(10)
    for x, y in loader:
        labels = y.flatten()
        counts += torch.bincount(labels, minlength=10)
    return counts / counts.sum()

@torch.no_grad()
def accuracy(loader):
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum()
    return right

def look(loader):
    shapes = []
    for x, y in loader:
        shapes.append(x.shape)
        break
    return shapes

def paint(images):
    painted = []
    for image in images:
        painted.append(image.numpy())
    return painted

loader = DataLoader(data, batch_size=8, shuffle=True)
loss = torch.nn.CrossEntropyLoss(weight=1 - frequencies(loader))
for x, y in loader:
    loss(model(x), y).backward()
    optimizer.step()
print(look(loader), accuracy(loader), paint(next(iter(loader))[0]))
