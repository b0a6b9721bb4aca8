# Changed: Each group has its rate, and such a schedule its own.
# Options: --suggested

import torch

body, head = model.body, model.head
optimizer = torch.optim.Adam([{"params": body.parameters()}, dict(params=head.parameters(), lr=1e-2)])
cycle = torch.optim.lr_scheduler.CyclicLR(optimizer, [1e-4, 1e-3], max_lr=[rate for rate in rates])
loss.backward()
