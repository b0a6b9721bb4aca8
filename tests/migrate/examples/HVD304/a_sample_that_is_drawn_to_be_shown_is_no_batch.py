# Reported: a sample that is drawn to be shown is no batch that each rank draws for itself

import numpy
import torch
from torch.utils.data import DataLoader

def show(x):
    print(x[numpy.random.randint(0, len(x))])

def loaders(data):
    found = {}
    for phase in ("train", "test"):
        found[phase] = DataLoader(data[phase])
    return found

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for phase, loader in loaders(read()).items():
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        show(x)
        if phase == "train":
            loss.backward()
            optimizer.step()
