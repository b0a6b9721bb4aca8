import horovod.torch as hvd
import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau
from library import construct

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = construct(options.schedule, optimizer)
for epoch in range(3):
    loss.backward()
    optimizer.step()
    if isinstance(schedule, ReduceLROnPlateau):
        schedule.step(hvd.allreduce(torch.as_tensor(score), op=hvd.Average))
    else:
        schedule.step(epoch)
