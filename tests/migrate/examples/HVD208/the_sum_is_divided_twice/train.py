# Kept: the sum is divided twice; HVD904 refuses it

import torch
from hooks import average_by_hooks

model = average_by_hooks(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
