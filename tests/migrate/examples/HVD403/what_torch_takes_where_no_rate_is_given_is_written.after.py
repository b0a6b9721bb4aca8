import horovod.torch as hvd
import torch

optimizer = torch.optim.Adam([{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": lr / 10 * hvd.size()}], lr=0.001 * hvd.size())
loss.backward()
