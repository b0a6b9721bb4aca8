# Changed: Two phases of a training.

import torch

def train(optimizer):
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train(optimizer)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
train(optimizer)
