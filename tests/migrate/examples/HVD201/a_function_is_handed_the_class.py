# Reported: a function is handed the class: its other callers may hand it another

import torch
import torch.distributed as dist
from functools import partial
from torch.nn.parallel import DistributedDataParallel as DDP

def wrapped(model, wrap):
    return wrap(model)

dist.init_process_group("nccl")
model = wrapped(torch.nn.Linear(2, 1), partial(DDP, device_ids=[0]))
model(x).sum().backward()
