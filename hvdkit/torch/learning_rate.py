"""`scale_lr()`: the learning rate for the batch that all ranks make together.

Not a scheduler: warm-up and decay stay with torch.optim.lr_scheduler.
"""

from __future__ import annotations

from typing import TypeVar, overload

import torch
from torch.optim import Optimizer

from hvdkit import scaling
from hvdkit.errors import HvdkitError
from hvdkit.torch.engine import hvd

_Optimizer = TypeVar("_Optimizer", bound=Optimizer)


class ScheduledTooEarlyError(HvdkitError):
    """The optimizer already has a scheduler, which would undo the scaling."""


def lr_factor(*, use_adasum: bool = False, batches_per_allreduce: int = 1) -> int:
    """By how much the global batch, and so the learning rate, is larger than one process's.

    With Average the world size x batches_per_allreduce; with Adasum what hvdkit.scaling says.
    """
    return scaling.lr_factor(
        hvd,
        on_gpu=torch.cuda.is_available(),
        use_adasum=use_adasum,
        batches_per_allreduce=batches_per_allreduce,
    )


@overload
def scale_lr(lr: float, *, use_adasum: bool = ..., batches_per_allreduce: int = ...) -> float: ...
@overload
def scale_lr(lr: _Optimizer, *, use_adasum: bool = ..., batches_per_allreduce: int = ...) -> _Optimizer: ...
def scale_lr(
    lr: float | Optimizer, *, use_adasum: bool = False, batches_per_allreduce: int = 1
) -> float | Optimizer:
    """Scale a learning rate, or those of an optimizer in place, by `lr_factor`; returns what it was given.

    The linear scaling rule (Goyal et al. 2017, arXiv:1706.02677): when the batch of each process stays as
    it was, the global batch grows with the number of processes and the learning rate with it, usually
    after a few epochs of warm-up. It was found for SGD; adaptive optimizers often want less.

    Do not use it in a script that came from DistributedDataParallel or DataParallel: its learning rate was
    chosen for the global batch already.

    Args:
        lr: a learning rate, or an optimizer whose parameter groups are scaled.
        use_adasum, batches_per_allreduce: as given to `DistributedOptimizer`.

    Raises:
        ScheduledTooEarlyError: a scheduler was built on the optimizer; it has noted the unscaled rates.
    """
    factor = lr_factor(use_adasum=use_adasum, batches_per_allreduce=batches_per_allreduce)
    if not isinstance(lr, Optimizer):
        return lr * factor
    if any("initial_lr" in group for group in lr.param_groups):
        raise ScheduledTooEarlyError(
            "the optimizer's learning rate is already under a scheduler",
            why="the scheduler keeps the rates it found when it was built, and its next step restores them",
            fix="call scale_lr before building the scheduler",
        )
    for group in lr.param_groups:
        group["lr"] = group["lr"] * factor
    return lr
