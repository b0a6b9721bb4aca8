# Changed: Without the setting there is no copy.

import copy
import torch

model = torch.nn.Linear(2, 1)
if args.ema:
    average = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
