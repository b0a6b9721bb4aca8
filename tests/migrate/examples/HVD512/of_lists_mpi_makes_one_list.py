# Kept: of lists MPI makes one list, and sum() raises

import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")

def everywhere(names):
    return MPI.COMM_WORLD.allreduce(names)
