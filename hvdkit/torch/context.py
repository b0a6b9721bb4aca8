"""`init()`: Horovod's init, the guards against a job that is not one, and the device of this rank.

Where the rank comes from is hvdkit.bootstrap's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from hvdkit.bootstrap.devices import device_index
from hvdkit.torch.engine import engine, hvd


@dataclass(frozen=True)
class Context:
    """This process's place in the job: its ranks, the world's sizes, and the device it computes on."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    device: torch.device


def init(comm: Any = None, process_sets: Sequence[Any] | str | None = None) -> Context:
    """Initialise Horovod, check that the job is one job, and pin this process to its device.

    Takes what `horovod.torch.init` takes. Call it before anything touches CUDA. Calling it again gives
    the same answer.

    Args:
        comm: ranks of MPI_COMM_WORLD, or an mpi4py communicator, to use instead of all. The world is then
            smaller than the launcher's on purpose, so the two are not compared.
        process_sets: process sets to create, or "dynamic" to be able to add them later.

    Raises:
        LaunchEnvironmentError: the environment that gives the rank is half set, wrong, or contradicts itself.
        MeetingError: under torchrun, PyTorchJob or srun, a rank did not come in time, or the port is taken.
        UnsynchronisedCopiesError: the launcher started more processes than Horovod connected.
        NotEnoughDevicesError: this host runs more ranks than it has CUDA devices.
    """
    again = hvd.is_initialized()
    engine.start(comm, process_sets)
    if hvd.rank() == 0 and not again:
        ranks = "1 rank" if hvd.size() == 1 else f"{hvd.size()} ranks"
        print(f"hvdkit: the engine is {engine.title()}, {ranks}", file=sys.stderr, flush=True)
    return Context(hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), _pin())


def _pin() -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    index = device_index(hvd.local_rank(), hvd.local_size(), torch.cuda.device_count())
    torch.cuda.set_device(index)
    return torch.device("cuda", index)
