# Reported: how many share the data was not found: they may be those of a host, which has data of its own

import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
model = DDP(net.to(local_rank))
sampler = DistributedSampler(part_of_this_host(), num_replicas=workers, rank=local_rank)
for x in DataLoader(data, sampler=sampler):
    model(x).sum().backward()
    optimizer.step()
