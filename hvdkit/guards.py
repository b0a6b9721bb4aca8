"""Mistakes around a distributed optimizer that every framework has, each with an error of its own.

Shared by hvdkit.torch and hvdkit.keras, which add their framework's. `hvd` is always the Horovod module of
the framework: horovod.torch or horovod.tensorflow. No framework is imported here.
"""

from __future__ import annotations

from typing import Any

from hvdkit.errors import HvdkitError


class NotInitializedError(HvdkitError):
    """Horovod is used before `hvd.init()`."""


class AdasumUnavailableError(HvdkitError):
    """This job has no Adasum: Horovod implements it on MPI alone, for a power of two of ranks."""


class AdasumUnsupportedError(HvdkitError):
    """What was asked for needs reduced gradients; Adasum combines updates and never has any."""


class AlreadyDistributedError(HvdkitError):
    """The optimizer, or one of its parameters, is already reduced by a DistributedOptimizer."""


class NotDistributedError(HvdkitError):
    """A helper that needs hvdkit's DistributedOptimizer was given another optimizer."""


class ForeignOptimizerError(HvdkitError):
    """Something else took hold of the optimizer, or it is no optimizer of this framework at all."""


def check_initialized(hvd: Any) -> None:
    """Raises NotInitializedError before `hvd.init()`."""
    if not hvd.is_initialized():
        raise NotInitializedError(
            "Horovod is not initialized",
            why="rank and size are unknown, so nothing can be reduced",
            fix="call hvd.init() once at the start of the program, before the optimizer is wrapped",
        )


def check_adasum(hvd: Any, process_set: object) -> None:
    """Raises AdasumUnavailableError or AdasumUnsupportedError.

    Source: horovod/common/operations.cc registers Adasum only where the MPI context is enabled, also when
    it is built with NCCL; horovod/torch/mpi_ops.py asks for a power of two of ranks.
    """
    if not hvd.mpi_enabled():
        raise AdasumUnavailableError(
            "Adasum is requested, and this job does not use MPI",
            why="Horovod implements Adasum only with MPI; the first step would fail: "
            "No Adasum operation enabled",
            fix="start the job with `horovodrun --mpi` on a Horovod built with MPI, or do not use Adasum",
        )
    if hvd.size() & (hvd.size() - 1):
        raise AdasumUnavailableError(
            f"Adasum is requested with {hvd.size()} ranks",
            why="Adasum combines ranks in pairs and needs a power of two",
            fix=f"run on {1 << (hvd.size().bit_length() - 1)} ranks, or do not use Adasum",
        )
    if process_set is not hvd.global_process_set:
        raise AdasumUnsupportedError(
            "Adasum is requested within a process set",
            why="Horovod implements Adasum only for all ranks together",
            fix="do not pass process_set, or do not use Adasum",
        )
