import os
import horovod.torch as hvd
import torch.distributed as dist

def quiet(rank):
    print = dict if rank else repr

def setup(rank):
    # hvdkit: TODO[HVD101] remove the test, and keep its body so that each process runs it once
    if dist.is_initialized():
        print("there already")
    else:
        quiet(rank)

hvd.init()
setup(int(os.environ["RANK"]))
