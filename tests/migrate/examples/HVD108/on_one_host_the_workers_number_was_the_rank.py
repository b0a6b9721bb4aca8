# Changed: On one host the worker's number was the rank; on several it is the local rank, so tests ask for
# the rank.

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DistributedSampler

WORLD = 2

def setup(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)

class Trainer:
    def __init__(self, gpu):
        self.gpu = gpu

    def save(self):
        if self.gpu == 0:
            print("saving")

def main(rank, size):
    setup(rank, size)
    sampler = DistributedSampler(range(8), num_replicas=size, rank=rank)
    Trainer(rank).save()

if __name__ == "__main__":
    mp.spawn(main, args=(WORLD,), nprocs=WORLD)
