"""`init()`: Horovod's init, the guards against a job that is not one, and the device of this rank.

What the environment means is launcher.py's; starting processes is nobody's here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import horovod.torch as hvd
import torch

from hvdkit.errors import HvdkitError
from hvdkit.torch.launcher import read_launches, refuse_copies


class NotEnoughDevicesError(HvdkitError):
    """This host has more ranks than CUDA devices."""


@dataclass(frozen=True)
class Context:
    """This process's place in the job: its ranks, the world's sizes, and the device it computes on."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    device: torch.device


def init(comm: Any = None, process_sets: Sequence[hvd.ProcessSet] | str | None = None) -> Context:
    """Initialise Horovod, check that the job is one job, and pin this process to its device.

    Takes what `horovod.torch.init` takes. Call it before anything touches CUDA. Calling it again gives
    the same answer.

    Args:
        comm: ranks of MPI_COMM_WORLD, or an mpi4py communicator, to use instead of all. The world is then
            smaller than the launcher's on purpose, so the two are not compared.
        process_sets: process sets to create, or "dynamic" to be able to add them later.

    Raises:
        LaunchEnvironmentError: the environment that gives the rank is half set.
        UnsynchronisedCopiesError: the launcher started more processes than Horovod connected.
        NotEnoughDevicesError: this host runs more ranks than it has CUDA devices.
    """
    launches = read_launches(os.environ, mpi_built=hvd.mpi_built())
    hvd.init(comm, process_sets)
    if comm is None:
        refuse_copies(launches, hvd.rank(), hvd.size())
    return Context(hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), _pin())


def _pin() -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    index = device_index(hvd.local_rank(), hvd.local_size(), torch.cuda.device_count())
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def device_index(local_rank: int, local_size: int, visible: int) -> int:
    """The CUDA device of a rank, of those it can see.

    A scheduler that gives each rank one device makes it device 0 for all of them.

    Raises:
        NotEnoughDevicesError: several devices are visible, but fewer than ranks on this host.
    """
    if visible == 1:
        return 0
    if visible < local_size:
        raise NotEnoughDevicesError(
            f"this host runs {local_size} ranks but {visible} CUDA devices are visible to local rank "
            f"{local_rank}",
            why="two ranks on one device slow each other down, and NCCL refuses them",
            fix=f"start at most {visible} ranks here (`-H HOST:{visible}`), or widen CUDA_VISIBLE_DEVICES",
        )
    return local_rank
