# Changed.

import torch
import torch.distributed as dist

def run(gpu, a, b):
    dist.init_process_group("gloo")

packed = (1, 2)
torch.multiprocessing.spawn(run, nprocs=2, args=packed)
torch.multiprocessing.start_processes(
    run,
    args=(
        1,
        2,
    ),
    nprocs=2,
)
