import sys
import horovod.torch as hvd
import torch.distributed as dist

assert hvd.is_initialized(), "start this with torchrun"
if not hvd.is_initialized():
    raise RuntimeError("start this with torchrun")
if hvd.is_initialized():
    gpu = 0
elif hvd.is_initialized():
    gpu = 1
else:
    sys.exit("no launcher")
dist.init_process_group("nccl")
