# Changed: What is gathered goes to the caller on every rank, so it stays None where mpi4py left it so.

import torch
import torch.distributed as dist

def longest(texts):
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rows = world.gather(texts, root=1)
    total = world.allreduce(len(texts))
    most = world.allreduce(float(len(texts)), op=MPI.MAX)
    return rows, total / most, world.allgather(texts)

dist.init_process_group("gloo")
