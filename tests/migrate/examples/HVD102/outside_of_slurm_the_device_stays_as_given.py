# Reported: outside of Slurm the device stays as given, and Horovod has a local rank there, too

import os
import torch.distributed as dist

def main(device):
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    try:
        os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]
    except KeyError:
        pass
    dist.init_process_group("gloo")
