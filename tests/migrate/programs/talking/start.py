"""How the ranks of train.py meet, and what they give each other: by mpi4py, as mpirun starts them."""

import io
import os
import socket
from pathlib import Path

import torch
import torch.distributed as dist
from mpi4py import MPI

PART = 1000  # bytes sent at once


def setup():
    if dist.is_initialized():
        return
    comm = MPI.COMM_WORLD
    os.environ["MASTER_ADDR"] = comm.bcast("localhost", root=0)
    os.environ["RANK"] = str(comm.rank)
    os.environ["WORLD_SIZE"] = str(comm.size)
    port = comm.bcast(_free_port(), root=0)
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", init_method="env://")


def _free_port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


def load(path):
    """What rank 0 finds in a file, in parts of a size that MPI can send."""
    if MPI.COMM_WORLD.Get_rank() == 0:
        with Path(path).open("rb") as file:
            data = file.read()
        parts = (len(data) + PART - 1) // PART
        MPI.COMM_WORLD.bcast(parts)
        for start in range(0, len(data), PART):
            MPI.COMM_WORLD.bcast(data[start : start + PART])
    else:
        data = b""
        for _ in range(MPI.COMM_WORLD.bcast(None)):
            data += MPI.COMM_WORLD.bcast(None)
    return torch.load(io.BytesIO(data))


def same_everywhere(params):
    for param in params:
        with torch.no_grad():
            dist.broadcast(param, 0)
