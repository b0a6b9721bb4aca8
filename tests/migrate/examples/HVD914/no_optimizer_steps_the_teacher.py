# Kept: no optimizer steps the teacher: it has no gradients to send

import torch

model = torch.nn.Conv2d(3, 4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
teacher = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last)
for x in loader:
    (model(x) - teacher(x)).square().sum().backward()
    optimizer.step()
