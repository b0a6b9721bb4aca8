# Changed: A part of the data for each rank of the job, not for each of a host.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def run(rank, size, index):
    dist.init_process_group("nccl", rank=rank, world_size=size)
    mine = index.split(len(index) // size)[rank]
    name = "a b".split()[0]

if __name__ == "__main__":
    size = torch.cuda.device_count()
    mp.spawn(run, args=(size, torch.arange(100)), nprocs=size)
