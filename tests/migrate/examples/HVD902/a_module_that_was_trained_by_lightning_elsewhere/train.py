# Kept: a module that was trained by Lightning elsewhere is one of PyTorch's here

import torch
from codes import Codes

codes = Codes()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    model(codes(x)).sum().backward()
    optimizer.step()
