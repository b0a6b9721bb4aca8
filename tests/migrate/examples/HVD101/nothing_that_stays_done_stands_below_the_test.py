# Changed: Nothing that stays done stands below the test.

import os
import torch.distributed as dist

print(int(os.environ["RANK"]))
if dist.is_available() and not dist.is_initialized():
    os.environ["MASTER_PORT"] = "29500"
    dist.init_process_group("nccl")
    print("started")
