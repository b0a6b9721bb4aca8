# Kept: an evaluation that shares a file with what trains has none, either

import torch
import tools
from torch.nn.parallel import DistributedDataParallel as DDP

tools.start()
model = DDP(torch.nn.Linear(2, 1))
print(model(x).mean())
