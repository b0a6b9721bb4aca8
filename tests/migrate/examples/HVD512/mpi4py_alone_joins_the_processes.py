# Kept: mpi4py alone joins the processes: how they share their gradients is not known

import torch
from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
torch.nn.Linear(2, 1)(torch.ones(2)).backward()
