# Changed: An average that was copied above has each rank's own weights.

import copy
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
average = copy.deepcopy(model)
if args.distributed:
    model = DDP(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
