# Changed.

import torch
import torch.distributed as dist

def worker(gpu, size):
    dist.init_process_group("nccl", rank=gpu, world_size=size)

def main(size):
    runner = torch.multiprocessing.start_processes
    runner(worker, args=(size,), nprocs=size, start_method="fork")
