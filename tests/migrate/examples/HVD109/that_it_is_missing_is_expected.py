# Kept: that it is missing is expected

import os
import torch.distributed as dist

def copied(path):
    try:
        return f"/scratch/{os.environ['SLURM_JOB_ID']}/{os.environ['SLURM_LOCALID']}/{path}"
    except KeyError:
        return path

dist.init_process_group("nccl")
