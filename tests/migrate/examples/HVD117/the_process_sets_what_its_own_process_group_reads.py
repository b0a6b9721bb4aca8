# Kept: the process sets what its own process group reads

import os
import subprocess
import torch.distributed as dist

os.environ["RANK"] = os.environ["SLURM_PROCID"]
os.environ["WORLD_SIZE"] = os.environ["SLURM_NTASKS"]
print(subprocess.check_output(["hostname"]))
dist.init_process_group("nccl")
