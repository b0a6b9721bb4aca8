# Changed: Where the program ends else, a job of one process goes on, as it did under torchrun.

import os
import sys
import torch.distributed as dist

assert "LOCAL_RANK" in os.environ, "start this with torchrun"
if "RANK" not in os.environ:
    raise RuntimeError("start this with torchrun")
if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
    gpu = 0
elif "SLURM_PROCID" in os.environ:
    gpu = 1
else:
    sys.exit("no launcher")
dist.init_process_group("nccl")
