import horovod.torch as hvd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def run(rank, size, index):
    dist.init_process_group("nccl", rank=rank, world_size=size)
    mine = index.split(len(index) // size)[hvd.rank()]
    name = "a b".split()[0]

if __name__ == "__main__":
    size = hvd.size()
    mp.spawn(run, args=(size, torch.arange(100)), nprocs=size)
