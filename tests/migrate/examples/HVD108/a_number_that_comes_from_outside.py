# Changed: A number that comes from outside: what is read of it again is the same number.

import torch.distributed as dist
import torch.multiprocessing as mp
from library import parsed

class Config(dict):
    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

def worker(rank, c):
    if c.gpus > 1:
        dist.init_process_group("nccl", init_method="file:///tmp/store", rank=rank, world_size=c.gpus)

def main():
    options = Config(parsed())
    c = Config(batch=options.batch)
    c.gpus = options.gpus
    c.batch_gpu = c.batch // options.gpus
    mp.spawn(worker, args=(c,), nprocs=c.gpus)
