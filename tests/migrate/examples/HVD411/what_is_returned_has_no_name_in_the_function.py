# Reported: what is returned has no name in the function

import torch
from apex.parallel.LARC import LARC

def make(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return LARC(optimizer)

optimizer = make(model)
model(x).sum().backward()
optimizer.step()
