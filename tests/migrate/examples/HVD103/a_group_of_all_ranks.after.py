import horovod.torch as hvd
import torch.distributed as dist

def everybody():
    return dist.new_group(backend="gloo")

def gather(data, group=None):
    if group is None:
        group = everybody()
    if hvd.size() == 1:
        return [data]
    print(("nccl" if hvd.nccl_built() else "gloo"), hvd.rank())
