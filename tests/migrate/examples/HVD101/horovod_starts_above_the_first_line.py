# Reported: Horovod starts above the first line, and setup() would leave before it sets the device

import os
import torch
import torch.distributed as dist

def setup():
    if dist.is_initialized():
        return
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")

print(int(os.environ["RANK"]))
setup()
