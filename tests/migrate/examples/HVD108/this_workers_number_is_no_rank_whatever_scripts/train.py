# Changed: This worker's number is no rank, whatever scripts for one host stand beside it.

import sampling
import torch.distributed as dist
import torch.multiprocessing as mp

def run(worker, workers, data):
    job = sampling.job()
    dist.init_process_group("nccl", rank=job.rank, world_size=job.size)
    mine = data.split(len(data) // workers)[worker]

mp.spawn(run, args=(2, sampling.of_this_host()), nprocs=2)
