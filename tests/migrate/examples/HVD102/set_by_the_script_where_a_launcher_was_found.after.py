import os
import horovod.torch as hvd
import torch
import torch.distributed as dist

def start():
    if "RANK" in os.environ:
        os.environ["LOCAL_SIZE"] = str(torch.cuda.device_count())
        dist.init_process_group("nccl")

def local_size():
    return hvd.local_size() if dist.is_initialized() else 1
