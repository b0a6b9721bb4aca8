# Reported: a comment among the arguments would be lost, or stand where it says nothing

import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if __name__ == "__main__":
    mp.spawn(
        worker,
        args=(  # the rank comes first
            4,
        ),
        nprocs=4,
    )
