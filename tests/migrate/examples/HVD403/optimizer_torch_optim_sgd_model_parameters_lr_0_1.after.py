import horovod.torch as hvd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1 * hvd.size(), total_steps=100)
for group in optimizer.param_groups:
    group["lr"] *= 0.5
loss.backward()
