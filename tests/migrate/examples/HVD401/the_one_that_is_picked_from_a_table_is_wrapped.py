# Changed: The one that is picked from a table is wrapped, with the groups that it gets.

import torch

model = torch.nn.Linear(2, 1)
optimizer = {
    "adam": torch.optim.Adam([model.weight], rate),
    "sgd": torch.optim.SGD([model.weight], rate, momentum=0.9),
}[kind]
optimizer.add_param_group({"params": [model.bias]})
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
