# Changed: ... and the same of several variables.

import os
import torch.distributed as dist

if all(key in os.environ for key in ("LOCAL_RANK", "RANK", "WORLD_SIZE")):
    dist.init_process_group("nccl")
elif not any([name in os.environ for name in ["SLURM_PROCID", "PMI_RANK"]]):
    print("alone")
