# Changed: Under horovodrun the variables of Slurm and MPI are missing or another program's.

import os
import torch.distributed as dist

def setup():
    rank = int(os.environ["SLURM_PROCID"])
    size = int(os.getenv("SLURM_NTASKS"))
    dist.init_process_group("gloo", rank=rank, world_size=size)
    return int(os.environ["OMPI_COMM_WORLD_LOCAL_RANK"])
