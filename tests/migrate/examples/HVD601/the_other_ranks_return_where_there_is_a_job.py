# Kept: the other ranks return where there is a job
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def save(model):
    if dist.is_initialized() and dist.get_rank() != 0:
        return
    torch.save(model.state_dict(), "model.pt")

dist.init_process_group("nccl")
model = DDP(torch.nn.Linear(2, 1))
model(torch.ones(2)).sum().backward()
save(model)
