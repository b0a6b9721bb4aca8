import os
import horovod.torch as hvd
import torch
import torch.distributed as dist

def setup():
    hvd.init()
    rank = int(os.environ["RANK"])
    # hvdkit: TODO[HVD101] remove the test, and keep its body so that each process runs it once
    if not dist.is_initialized():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return rank

setup()
