# Reported: a library's object takes the steps of the optimizer that it was given, or does not

import torch
from sometools import Warmed

model = torch.nn.Linear(2, 1)
inner = torch.optim.Adam(model.parameters())
optimizer = Warmed(inner, steps=100)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
