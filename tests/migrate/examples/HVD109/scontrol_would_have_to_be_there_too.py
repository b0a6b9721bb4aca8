# Reported: scontrol would have to be there, too

import os
import subprocess
import torch.distributed as dist

def setup():
    rank = int(os.environ["SLURM_PROCID"])
    hosts = os.environ["SLURM_NODELIST"]
    first = subprocess.check_output(["scontrol", "show", "hostname", hosts])
    dist.init_process_group("nccl")
