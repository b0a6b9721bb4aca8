import os
import horovod.torch as hvd
import torch.distributed as dist

hvd.init()
print(int(os.environ["RANK"]))
if dist.is_available() and not dist.is_initialized():
    os.environ["MASTER_PORT"] = "29500"
    print("started")
