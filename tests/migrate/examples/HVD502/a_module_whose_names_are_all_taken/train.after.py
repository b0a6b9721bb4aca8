import horovod.torch as hvd
import torch.distributed as dist

def send(x):
    hvd.broadcast_(x, root_rank=0)
