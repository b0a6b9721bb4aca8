# Reported: the rate comes from the one that the optimizer has, which may be scaled
# Options: --suggested

import torch

optimizer = torch.optim.Adam(model.parameters(), **options)
start = [group["lr"] for group in optimizer.param_groups]
for group, lr in zip(optimizer.param_groups, start):
    group["lr"] = lr * 0.1
loss.backward()
