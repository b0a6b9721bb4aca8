# Kept: the second argument is not the optimizer's: its rate is in what the function adds

import torch

def make(module, name, *args, **options):
    return getattr(module, name)(*args, **options)

model = torch.nn.Linear(2, 1)
optimizer = make(torch.optim, "SGD", model.parameters())
model(x).sum().backward()
optimizer.step()
