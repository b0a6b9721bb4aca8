# Changed: The first of several variables that is set, as timm and open_clip look for it.

import os
import torch.distributed as dist

def world_info_from_env():
    local_rank = 0
    for v in ("LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"):
        if v in os.environ:
            local_rank = int(os.environ[v])
            break
    world_size = 1
    for v in ("WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"):
        if v in os.environ:
            world_size = int(os.environ[v])
            break
    return local_rank, world_size

local_rank, world_size = world_info_from_env()
dist.init_process_group("gloo", world_size=world_size, rank=local_rank)
