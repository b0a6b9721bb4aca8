# Reported: the environment is written out

import os
import subprocess
import torch.distributed as dist

def train():
    dist.init_process_group("nccl")

for rank in range(2):
    subprocess.run(["train"], env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)})
