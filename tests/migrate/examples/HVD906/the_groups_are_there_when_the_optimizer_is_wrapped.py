# Kept: the groups are there when the optimizer is wrapped

import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([model.weight], lr=0.1)
for p in (model.bias,):
    optimizer.add_param_group({"params": [p]})
for x in batches:
    model(x).sum().backward()
    optimizer.step()
