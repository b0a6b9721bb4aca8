"""How gradients are reduced, as plain data, and the short names for it. No framework is imported here.

`hvd` is the Horovod module of the framework: horovod.torch or horovod.tensorflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

from hvdkit.errors import UsageError

# Gives the gradients (None where there is none) to the optimizer's own method.
Apply = Callable[[Sequence[Any]], None]
# One optimizer step: gradients of this rank, their variables, and what applies the reduced ones.
Step = Callable[[Sequence[Any], Sequence[Any], Apply], None]


@dataclass(frozen=True)
class Reduction:
    """The arguments of DistributedOptimizer that the collectives need; see there for each.

    name: the same on all ranks, another one for each optimizer of a program.
    passes: gradients added up on this rank for each reduction. mean_of_passes: divide the sum by passes.
    """

    name: str
    op: Any
    compression: Any
    sparse_as_dense: bool
    gradient_predivide_factor: float
    groups: Any
    process_set: Any
    device_dense: str
    device_sparse: str
    passes: int
    mean_of_passes: bool


def chosen_op(hvd: Any, op: Any, use_adasum: bool) -> Any:
    """The reduction that `op` and its short form ask for together."""
    if use_adasum and op not in (hvd.Average, hvd.Adasum):
        raise UsageError("both use_adasum and a different op are given", fix="give one of them")
    return hvd.Adasum if use_adasum else op


def chosen_compression(hvd: Any, compression: Any, fp16_allreduce: bool) -> Any:
    """The compressor that `compression` and its short form ask for together."""
    if fp16_allreduce and compression not in (hvd.Compression.none, hvd.Compression.fp16):
        raise UsageError("both compression and fp16_allreduce are given", fix="give one of them")
    return hvd.Compression.fp16 if fp16_allreduce else compression
