# Kept: all ranks are given the same name

import os
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size, folder):
    dist.init_process_group("gloo", init_method="file:///tmp/store", rank=rank, world_size=size)

def main(out, name, size):
    folder = os.path.join(out, name)
    os.makedirs(folder)
    mp.spawn(worker, args=(size, folder), nprocs=size)
