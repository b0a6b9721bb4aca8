# Reported: whether there is a GPU decides, too: a job on CPUs would train N models

import os
import torch
import torch.distributed as dist

distributed = torch.cuda.is_available() and int(os.environ.get("WORLD_SIZE", 1)) > 1
if distributed:
    dist.init_process_group("nccl")
model(x).sum().backward()
