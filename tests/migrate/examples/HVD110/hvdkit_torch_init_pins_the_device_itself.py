# Changed: hvdkit.torch.init() pins the device itself.
# Options: --target hvdkit

import torch

model = torch.nn.Linear(2, 1)
model(torch.ones(2)).sum().backward()
optimizer.step()
