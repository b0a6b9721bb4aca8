# Reported: on one rank the seed is another number

import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
seed = 1234
if dist.get_world_size() > 1:
    seed = int(os.environ["LOCAL_RANK"])
torch.manual_seed(seed)
model = DDP(net)
for x in batches:
    model(x).sum().backward()
    optimizer.step()
