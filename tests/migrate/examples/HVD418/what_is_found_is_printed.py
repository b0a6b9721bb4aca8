# Kept: what is found is printed, and names nothing

import os
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size, folder):
    dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=size)

def main(out, size):
    for name in os.listdir(out):
        print(name)
    folder = os.path.join(out, "run")
    os.makedirs(folder)
    mp.spawn(worker, args=(size, folder), nprocs=size)
