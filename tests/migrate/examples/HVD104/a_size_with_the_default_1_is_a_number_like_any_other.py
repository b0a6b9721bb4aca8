# Kept: a size with the default 1 is a number like any other; a job id is no launcher of processes

import os
import torch.distributed as dist

if int(os.environ.get("WORLD_SIZE", 1)) > 1:
    dist.init_process_group("nccl")
if "SLURM_JOB_ID" in os.environ:
    print("in an allocation")
