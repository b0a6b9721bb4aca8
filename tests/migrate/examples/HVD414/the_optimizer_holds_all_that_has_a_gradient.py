# Kept: the optimizer holds all that has a gradient

import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
model(x).sum().backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step()
