import os
import horovod.torch as hvd
import torch.distributed as dist

def quiet(rank):
    print = dict if rank else repr

def setup(rank):
    # hvdkit: TODO[HVD101] take the test away, and leave what it was to do in each process once
    if dist.is_initialized():
        print("there already")
    else:
        quiet(rank)

hvd.init()
setup(int(os.environ["RANK"]))
