# Changed: The number of the current GPU is one of its host, where it seems to become the rank, too.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def work(gpu, count, several):
    if several:
        rank = node() * count + gpu
    else:
        rank = gpu
    if several:
        dist.init_process_group("nccl", rank=rank, world_size=count * nodes())

count, device = torch.cuda.device_count(), torch.cuda.current_device()
if several():
    mp.spawn(work, args=(count, True), nprocs=count)
else:
    work(device, count, False)
