# Reported: the script would stop here, as the model is no longer wrapped

import torch
from torch import nn

def patch(wrapped):
    assert isinstance(wrapped, nn.DataParallel)
    wrapped.replicate = replicate

model = nn.DataParallel(nn.Linear(2, 1))
patch(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
