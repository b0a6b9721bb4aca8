# Changed: A rank that is read between the imports: Horovod is imported above it, too.

import os

try:
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
except KeyError:
    pass

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
print("ready")
