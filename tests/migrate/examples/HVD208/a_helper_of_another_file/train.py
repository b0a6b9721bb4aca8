# Changed.

import torch
from hooks import average_by_hooks, start

start()
model = torch.nn.Linear(2, 1)
if distributed:
    model = average_by_hooks(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
