# Changed: Which schedule a configuration names is not known: the script asks for it.

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from library import construct

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = construct(options.schedule, optimizer)
for epoch in range(3):
    loss.backward()
    optimizer.step()
    if isinstance(schedule, ReduceLROnPlateau):
        schedule.step(score)
    else:
        schedule.step(epoch)
