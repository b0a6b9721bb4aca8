# Kept: the model is frozen below the wrap: its parameters have their hooks

import torch

def train(model, optimizer):
    freeze(model, True)
    for x in batches:
        freeze(model, False)
        model(x).sum().backward()
        optimizer.step()
        freeze(model, True)

def freeze(model, wanted):
    for p in model.parameters():
        p.requires_grad = not wanted

model = torch.nn.Linear(2, 1)
train(model, torch.optim.SGD(model.parameters(), lr=0.1))
