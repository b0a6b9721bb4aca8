# Changed: The helper returns early where something has started: init above its call would skip the rest.

import os
import torch.distributed as dist

def setup():
    if dist.is_initialized():
        return
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    dist.init_process_group("nccl")

setup()
print(int(os.environ["RANK"]))
