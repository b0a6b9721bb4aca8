# Kept: a rank is a rank through arithmetic, defaults, choices and the modules of the project
# Options: --suggested

import os
import config
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from config import RANK
from torch.nn.parallel import DistributedDataParallel as DDP

def save(model, rank=0):
    if int(rank) == 0:
        torch.save(model.state_dict(), "model.pt")

def worker(gpu, nodes):
    rank = config.NODE * 8 + gpu
    dist.init_process_group("nccl", rank=rank, world_size=8 * nodes)
    model = DDP(net)
    loss.backward()
    chosen = dist.get_rank() if dist.is_initialized() else 0
    given = chosen or 0
    save(model, chosen)
    save(model, rank=given)
    if not +rank:
        torch.save(model.state_dict(), "a.pt")
    if RANK == 0:
        torch.save(model.state_dict(), "b.pt")
    if config.RANK == 0:
        torch.save(model.state_dict(), "c.pt")

if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=8)
