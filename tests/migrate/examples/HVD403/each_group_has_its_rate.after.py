import horovod.torch as hvd
import torch

body, head = model.body, model.head
optimizer = torch.optim.Adam([{"params": body.parameters()}, dict(params=head.parameters(), lr=1e-2 * hvd.size())])
cycle = torch.optim.lr_scheduler.CyclicLR(optimizer, [1e-4 * hvd.size(), 1e-3 * hvd.size()], max_lr=[rate * hvd.size() for rate in rates])
loss.backward()
