# Changed: The step asks whether there is a gradient: there may be one on some ranks only.

import torch

model = torch.nn.Linear(2, 1)
for x in batches:
    model(x).sum().backward()
    for p in model.parameters():
        if p.grad is not None:
            p.data -= 0.1 * p.grad
    model.zero_grad()
