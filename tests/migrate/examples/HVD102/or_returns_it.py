# Changed: ... or returns it.

import os
import torch.distributed as dist

def rank_without_mpi():
    for name in ["PMI_RANK", "OMPI_COMM_WORLD_RANK"]:
        if name in os.environ:
            return int(os.environ[name])
    return -1

dist.init_process_group("gloo")
print(rank_without_mpi())
