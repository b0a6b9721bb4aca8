# Kept: ranks that are neither 0 nor the -1 of a job of one left above
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def save(model, rank):
    if rank not in [-1, 0]:
        return
    torch.save(model.state_dict(), "model.pt")

model = DDP(net)
loss.backward()
save(model, dist.get_rank())
