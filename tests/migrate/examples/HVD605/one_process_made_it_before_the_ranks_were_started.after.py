import os
import torch
import torch.multiprocessing as mp

def train(rank, out):
    torch.distributed.init_process_group("nccl", rank=rank, world_size=2)

os.makedirs("out/checkpoints", exist_ok=True)
mp.spawn(train, ("out",), nprocs=2)
