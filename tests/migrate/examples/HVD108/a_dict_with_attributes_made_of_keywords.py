# Changed: A dict with attributes, made of keywords.

import torch.distributed as dist
import torch.multiprocessing as mp

class Config(dict):
    def __getattr__(self, name):
        return self[name]

def worker(rank, c):
    dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

def main(gpus, data):
    c = Config(gpus=gpus, data=data)
    mp.spawn(worker, args=(c,), nprocs=c.gpus)
