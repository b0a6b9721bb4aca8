# Changed: A file in parts: the name is one for all, since the root's objects are of other types.

import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")

def read(path):
    if MPI.COMM_WORLD.Get_rank() == 0:
        data = open(path, "rb").read()
        MPI.COMM_WORLD.bcast(len(data))
        for start in range(0, len(data), 1024):
            MPI.COMM_WORLD.bcast(data[start : start + 1024])
    else:
        data = b""
        for _ in range(0, MPI.COMM_WORLD.bcast(None), 1024):
            data += MPI.COMM_WORLD.bcast(None)
    return data
