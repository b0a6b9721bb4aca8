"""`scale_lr()`: the learning rate for the batch that all ranks make together."""

from __future__ import annotations

from typing import Any

from hvdkit import scaling
from hvdkit.keras.backend import IS_KERAS_3, collectives, hvd, keras
from hvdkit.keras.guards import ScheduledLearningRateError

__all__ = ["current_rate", "lr_factor", "scale_lr"]


def lr_factor(*, use_adasum: bool = False, batches_per_allreduce: int = 1) -> int:
    """By how much the global batch, and so the learning rate, is larger than one process's.

    With Average the world size x batches_per_allreduce; with Adasum what hvdkit.scaling says.
    """
    return scaling.lr_factor(
        hvd,
        on_gpu=collectives.on_gpu(),
        use_adasum=use_adasum,
        batches_per_allreduce=batches_per_allreduce,
    )


def scale_lr(lr: Any, *, use_adasum: bool = False, batches_per_allreduce: int = 1) -> Any:
    """Scale a learning rate, or a Keras optimizer's in place, by `lr_factor`; returns what it was given.

    The linear scaling rule (Goyal et al. 2017, arXiv:1706.02677): when the batch of each process stays as
    it was, the global batch grows with the number of processes and the learning rate with it, usually
    after a few epochs of warm-up. It was found for SGD; adaptive optimizers often want less.

    Do not use it in a script that came from MirroredStrategy: its learning rate is for the global batch.

    Raises ScheduledLearningRateError for an optimizer with a LearningRateSchedule.
    """
    factor = lr_factor(use_adasum=use_adasum, batches_per_allreduce=batches_per_allreduce)
    if not isinstance(lr, keras.optimizers.Optimizer):
        return lr * factor
    check_settable(lr)
    lr.learning_rate = float(lr.learning_rate) * factor
    return lr


def current_rate(optimizer: Any) -> float:
    """The learning rate of the next step, that of a schedule included."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    if IS_KERAS_3:
        return float(inner.learning_rate)
    # Keras 2 evaluates a schedule in the step alone.
    rate = inner._learning_rate
    return float(rate(inner.iterations) if callable(rate) else rate)


def check_settable(optimizer: Any) -> None:
    """Raises ScheduledLearningRateError where the learning rate is a schedule."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    if isinstance(inner._learning_rate, keras.optimizers.schedules.LearningRateSchedule):
        raise ScheduledLearningRateError(
            f"the learning rate is a {type(inner._learning_rate).__name__}",
            why="it computes the rate from the step, whatever is set",
            fix="build the schedule with hvd.scale_lr(rate), and with its own warm-up",
        )
