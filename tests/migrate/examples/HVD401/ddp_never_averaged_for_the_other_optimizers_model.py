# Changed: DDP never averaged for the other optimizer's model: whether it was meant to is left to
# you.

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net, probe = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
own = torch.optim.SGD(probe.parameters(), lr=0.1)
