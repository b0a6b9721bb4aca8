# Reported: without DDP, too: the ranks of what was one process would be as many trainings

import torch
from somewhere import make_optimizer

model = torch.nn.Linear(2, 1)
optimizer = make_optimizer(model)
model(x).sum().backward()
optimizer.step()
