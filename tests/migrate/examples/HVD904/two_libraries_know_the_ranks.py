# Changed: Under Gloo mpi4py takes each process for a job of one, and under MPI it is right.

import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("nccl", init_method="env://")
rank = MPI.COMM_WORLD.Get_rank()
