import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(gpu, ngpus, args):
    args.host, args.first = hvd.cross_rank(), hvd.cross_rank() * ngpus
    args.rank = hvd.rank()
    dist.init_process_group("nccl", rank=args.rank, world_size=args.world)
    print(args.rank)

def main(args):
    gpus = hvd.local_size()
    mp.spawn(worker, nprocs=gpus, args=(gpus, args))
