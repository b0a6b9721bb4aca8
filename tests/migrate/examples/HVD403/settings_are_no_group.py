# Kept: settings are no group; every group has its rate; `options` may hold one
# Options: --suggested

import torch

settings = {"params": {"depth": 2}, "lr": 0.1}
optimizer = torch.optim.Adam([{"params": model.parameters(), "lr": settings["lr"] * hvd.size()}])
other = torch.optim.Adam(model.parameters(), **options)
loss.backward()
