# Reported: the launcher's own environment is handed on

import os
import subprocess
import torch.distributed as dist

def train():
    dist.init_process_group("nccl")

for rank in range(2):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2")
    subprocess.Popen(["train"])
