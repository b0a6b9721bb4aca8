# Changed: The same the other way round: a caller reads a rank, and what stands below else is skipped.

import os
import torch.distributed as dist

def quiet(rank):
    print = dict if rank else repr

def setup(rank):
    if dist.is_initialized():
        print("there already")
    else:
        dist.init_process_group("nccl")
        quiet(rank)

setup(int(os.environ["RANK"]))
