# Kept: the second optimizer is of another model

import torch

def train(model, optimizer):
    for x in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train(model, optimizer)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
train(model, optimizer)
