# Changed: A configuration says whether there are several processes, and only the person knows it.

import torch.distributed as dist
from configuration import load

config = load("train.yaml")
if config.distributed_run:
    dist.init_process_group("nccl")
