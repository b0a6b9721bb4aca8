# Reported: the wrapper that Horovod makes knows nothing of the option

import torch
from apex.optimizers import FusedAdam
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(2, 1))
optimizer = FusedAdam(model.parameters(), lr=0.1, set_grad_none=False)
loss.backward()
optimizer.step()
