# Reported: what the processes do with their arguments is not known

import subprocess
import sys
import torch
import torch.distributed as dist

def start(rank, size):
    dist.init_process_group("nccl", rank=rank, world_size=size)
    model(x).sum().backward()

if len(sys.argv) == 1:
    for rank in range(torch.cuda.device_count()):
        subprocess.Popen([sys.executable] + sys.argv + [str(rank)])
