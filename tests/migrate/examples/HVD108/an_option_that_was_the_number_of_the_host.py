# Changed: An option that was the number of the host until it becomes the rank.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(gpu, ngpus, args):
    args.host, args.first = args.rank, args.rank * ngpus
    args.rank = args.rank * ngpus + gpu
    dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
    print(args.rank)

def main(args):
    gpus = torch.cuda.device_count()
    mp.spawn(worker, nprocs=gpus, args=(gpus, args))
