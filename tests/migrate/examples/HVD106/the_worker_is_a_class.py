# Changed: The worker is a class: its __init__ is what the processes run.

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

class Trainer:
    def __init__(self, rank, size):
        self.rank = rank
        dist.init_process_group("nccl", rank=rank, world_size=size)
        self.train()

    def train(self):
        if self.rank == 0:
            torch.save({}, "start.pt")

if __name__ == "__main__":
    mp.spawn(Trainer, nprocs=4, args=(4,))
