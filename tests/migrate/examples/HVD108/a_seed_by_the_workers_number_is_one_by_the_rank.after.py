import os
import random
import horovod.torch as hvd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def seed_all(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(seed)
    torch.manual_seed(seed)

def prepare(gpu):
    torch.manual_seed(hvd.rank())
    torch.cuda.set_device(gpu)

def worker(rank, args):
    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=args.size)
    prepare(rank)
    seed_all(args.seed + hvd.rank())
    draws = torch.Generator().manual_seed(1000 * args.seed + hvd.rank())

def main(args):
    mp.spawn(worker, args=(args,), nprocs=args.size)
