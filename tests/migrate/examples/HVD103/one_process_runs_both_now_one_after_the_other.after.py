import torch.distributed as dist
import torch.multiprocessing as mp

def basic(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

def checkpoint(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

def run(demo, size):
    mp.spawn(demo, args=(size,), nprocs=size)

run(basic, 2)
run(checkpoint, 2)
