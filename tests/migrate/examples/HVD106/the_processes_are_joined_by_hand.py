# Reported: the processes are joined by hand: what stands between is the parent's own

import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if __name__ == "__main__":
    context = mp.spawn(worker, args=(4,), nprocs=4, join=False)
    while not context.join():
        pass
