# Kept: nothing looks at the gradients: the step that it takes reduces them

import torch
from sometools import Warmed

model = torch.nn.Linear(2, 1)
inner = torch.optim.Adam(model.parameters())
optimizer = Warmed(inner, steps=100)
for x in batches:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
