# Reported: what else the number may be was not found

import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
number = number_of(settings)
if number is None:
    number = int(os.environ["LOCAL_RANK"])
torch.manual_seed(1 + number)
model = DDP(net)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
