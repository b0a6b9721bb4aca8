import torch
from mpi4py import MPI

everyone = MPI.COMM_WORLD
