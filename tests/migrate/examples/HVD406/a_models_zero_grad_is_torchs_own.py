# Kept: a model's zero_grad() is torch's own

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in batches:
    model.zero_grad(set_to_none=True)
    model(x).sum().backward()
    optimizer.step()
