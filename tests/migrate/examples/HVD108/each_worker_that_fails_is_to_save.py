# Changed: Each worker that fails is to save, and says so by a 0: it is no rank.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def save(model, name, rank=0):
    if rank != 0:
        return
    torch.save(model.state_dict(), name)

def worker(rank, size, data):
    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
    model = torch.nn.Linear(2, 1)
    if not train(model, data):
        save(model, f"failed-{dist.get_rank()}.pt", rank=0)
    save(model, "last.pt", rank=rank)

def main(size, data):
    mp.spawn(worker, args=(size, data), nprocs=size)
