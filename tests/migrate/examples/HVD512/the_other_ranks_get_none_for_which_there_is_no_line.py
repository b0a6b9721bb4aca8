# Reported: the other ranks get None, for which there is no line here

import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")

def first(values):
    return MPI.COMM_WORLD.gather(values)
