# Kept: a communicator of some of the ranks

import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")
local = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
print(MPI.COMM_WORLD.rank, local.rank)
