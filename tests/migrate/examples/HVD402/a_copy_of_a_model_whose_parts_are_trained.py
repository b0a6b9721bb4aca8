# Changed: A copy of a model holds copies of its parts.

import copy
import torch

model = Net()
average = copy.deepcopy(model)
head = copy.deepcopy(model.head)
groups = [{"params": model.backbone.parameters()}, {"params": model.head.parameters(), "lr": 0.02}]
optimizer = torch.optim.SGD(groups, lr=0.1)
model(x).sum().backward()
