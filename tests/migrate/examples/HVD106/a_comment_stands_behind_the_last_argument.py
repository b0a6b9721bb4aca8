# Reported: a comment stands behind the last argument

import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

if __name__ == "__main__":
    mp.spawn(
        worker,
        args=(
            4,  # processes
        ),
        nprocs=4,
    )
