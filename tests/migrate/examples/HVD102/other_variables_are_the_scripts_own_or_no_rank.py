# Kept: other variables are the script's own, or no rank

import os
import torch.distributed as dist

dist.init_process_group("gloo")
folder = os.environ["DATA"]
job = os.environ.get("SLURM_JOB_ID")
