# Changed: Laid end to end by type, and copied back.

import torch
from reduction import sync

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters())
for x in batches:
    loss = net(x).sum()
    loss.backward()
    sync(net.parameters())
    optimizer.step()
