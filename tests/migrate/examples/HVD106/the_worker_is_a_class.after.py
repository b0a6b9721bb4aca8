import horovod.torch as hvd
import torch
import torch.distributed as dist

class Trainer:
    def __init__(self, rank, size):
        self.rank = rank
        dist.init_process_group("nccl", rank=rank, world_size=size)
        self.train()

    def train(self):
        if self.rank == 0:
            torch.save({}, "start.pt")

if __name__ == "__main__":
    Trainer(hvd.local_rank(), 4)
