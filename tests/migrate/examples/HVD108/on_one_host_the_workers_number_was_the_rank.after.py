import horovod.torch as hvd
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DistributedSampler

WORLD = hvd.size()

def setup(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

class Trainer:
    def __init__(self, gpu):
        self.gpu = gpu

    def save(self):
        if hvd.rank() == 0:
            print("saving")

def main(rank, size):
    setup(rank, size)
    sampler = DistributedSampler(range(8), num_replicas=size, rank=hvd.rank())
    Trainer(rank).save()

if __name__ == "__main__":
    mp.spawn(main, args=(WORLD,), nprocs=WORLD)
