# Kept: whether to write is decided by the caller and handed down
# Options: --suggested

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def save(model, path, is_master):
    if is_master:
        torch.save(model.state_dict(), path)

def train(rank):
    model = DDP(net)
    loss.backward()
    save(model, "model.pt", rank == 0)
    save(model, "last.pt", is_master=dist.get_rank() == 0)

train(dist.get_rank())
