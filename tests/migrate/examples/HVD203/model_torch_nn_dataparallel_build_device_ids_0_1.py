# Changed.

import torch

model = torch.nn.DataParallel(build(), device_ids=[0, 1]).cuda()
model(torch.ones(1)).sum().backward()
optimizer.step()
