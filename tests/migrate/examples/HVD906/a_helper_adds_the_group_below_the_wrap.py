# Reported: a helper adds the group below the wrap

import torch

def make(model):
    optimizer = torch.optim.SGD([model.weight], lr=0.1)
    add(optimizer, model)
    return optimizer

def add(optimizer, model):
    optimizer.add_param_group({"params": [model.bias]})

model = torch.nn.Linear(2, 1)
optimizer = make(model)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
