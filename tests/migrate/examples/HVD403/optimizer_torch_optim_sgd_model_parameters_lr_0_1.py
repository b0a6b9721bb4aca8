# Changed.
# Options: --suggested

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=100)
for group in optimizer.param_groups:
    group["lr"] *= 0.5
loss.backward()
