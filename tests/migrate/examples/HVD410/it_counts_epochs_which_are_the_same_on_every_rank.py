# Kept: it counts epochs, which are the same on every rank

import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
loss.backward()
schedule.step()
