import horovod.torch as hvd
import torch.distributed as dist

def setup():
    rank = hvd.rank()
    size = hvd.size()
    dist.init_process_group("gloo", rank=rank, world_size=size)
    return hvd.local_rank()
