# Kept: one function for two communicators

import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")

def rank_in(comm):
    return comm.rank

rank_in(MPI.COMM_WORLD)
rank_in(MPI.COMM_SELF)
