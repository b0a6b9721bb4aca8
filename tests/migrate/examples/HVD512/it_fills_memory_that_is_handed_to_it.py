# Kept: it fills memory that is handed to it

import numpy
import torch
import torch.distributed as dist
from mpi4py import MPI

dist.init_process_group("gloo")
total = numpy.zeros(3)
MPI.COMM_WORLD.Allreduce(numpy.ones(3), total, op=MPI.SUM)
