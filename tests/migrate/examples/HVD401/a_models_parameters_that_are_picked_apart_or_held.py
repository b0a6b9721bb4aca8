# Changed: A model's parameters that are picked apart, or held in the other branch, are not shared.

import torch

model = torch.nn.Linear(2, 1)
if muon:
    biases = torch.optim.SGD([p for p in model.parameters() if p.ndim == 1], lr=0.1)
    weights = torch.optim.Adam([p for p in model.parameters() if p.ndim > 1])
else:
    every = torch.optim.Adam(model.parameters())
model(x).sum().backward()
