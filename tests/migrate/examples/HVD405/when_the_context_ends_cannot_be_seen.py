# Reported: when the context ends cannot be seen: the program is refused

from contextlib import ExitStack
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with ExitStack() as stack:
    stack.enter_context(model.no_sync())
    model(x).sum().backward()
model(x).sum().backward()
optimizer.step()
