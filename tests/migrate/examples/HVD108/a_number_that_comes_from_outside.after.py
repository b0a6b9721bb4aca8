import horovod.torch as hvd
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
    c.gpus = hvd.size()
    c.batch_gpu = c.batch // hvd.size()
    mp.spawn(worker, args=(c,), nprocs=c.gpus)
