# Reported: two libraries know the ranks, and one of them would go

import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("nccl", init_method="env://")
rank = MPI.COMM_WORLD.Get_rank()
