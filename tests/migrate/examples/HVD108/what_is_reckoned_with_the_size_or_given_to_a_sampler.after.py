import horovod.torch as hvd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

class Endless(torch.utils.data.Sampler):
    def __init__(self, data, first, step):
        self.data, self.first, self.step = data, first, step

def worker(rank, size, data, seed):
    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=size)
    device = torch.device("cuda", rank)
    torch.manual_seed(seed * size + hvd.rank())
    sampler = Endless(data, first=hvd.rank(), step=size)
    prepare(sampler, size, rank)
    measure(sampler, size, hvd.rank(), device)

def main(size, data):
    mp.spawn(worker, args=(size, data, 0), nprocs=size)

main(hvd.size(), read())
