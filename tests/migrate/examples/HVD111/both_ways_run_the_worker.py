# Kept: both ways run the worker: what follows a branch that leaves is the other one

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def run(rank, size, several):
    if several:
        dist.init_process_group("gloo", rank=rank, world_size=size)

def main():
    size = torch.cuda.device_count()
    alone = torch.cuda.is_available() and size == 1
    if alone:
        run(0, 1, False)
        return
    mp.spawn(run, nprocs=size, args=(size, size > 1))
