import horovod.torch as hvd
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data.distributed import DistributedSampler

class Buckets(DistributedSampler):
    def __init__(self, dataset, sizes, num_replicas=None, rank=None):
        super().__init__(dataset, num_replicas, rank)

def worker(rank, count):
    dist.init_process_group("nccl", rank=rank, world_size=count)
    torch.cuda.set_device(rank)
    sampler = Buckets(data, [1, 2], count, rank=hvd.rank())

if __name__ == "__main__":
    count = hvd.size()
    mp.spawn(worker, nprocs=count, args=(count,))
