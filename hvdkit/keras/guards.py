"""Mistakes of Keras scripts that would cost a run, each refused before or at the first step.

Those that every framework has are in hvdkit.guards. No framework is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.guards import AlreadyDistributedError, ForeignOptimizerError
from hvdkit.keras.reduction import Reduction

# What DistributedOptimizer leaves in the class that it makes, its Reduction; and a tape in its gradients.
MARK = "_hvdkit_reduces"


class JitCompileError(HvdkitError):
    """XLA was asked to compile a step with a collective in it."""


class UnreducedTrainingError(HvdkitError):
    """A model is trained in a job of several ranks, and nothing reduces its gradients."""


class RanksDifferError(HvdkitError):
    """The ranks are about to train differently: one would block, or the models diverge."""


class ReducedTwiceError(HvdkitError):
    """Gradients of a DistributedGradientTape were given to a DistributedOptimizer."""


class ConditionalReductionError(HvdkitError):
    """A loss-scaling optimizer around a DistributedOptimizer: ranks would disagree on whether to reduce."""


class NotBuiltError(HvdkitError):
    """The model has no weights yet, so there is nothing to send."""


class ScheduledLearningRateError(HvdkitError):
    """The learning rate is a schedule, which computes it from the step; it cannot be set."""


class UnsupportedCallbackError(HvdkitError):
    """The callback would take the ranks apart."""


def is_distributed(optimizer: object) -> bool:
    """Whether hvdkit's DistributedOptimizer made it."""
    return hasattr(type(optimizer), MARK)


def reduction_of(optimizer: object) -> Reduction:
    """How a DistributedOptimizer reduces."""
    reduction: Reduction = getattr(type(optimizer), MARK)
    return reduction


def is_horovods(optimizer: object) -> bool:
    """Whether Horovod's own DistributedOptimizer made it."""
    return "_HAS_AGGREGATE_GRAD" in vars(type(optimizer)) and "register_local_var" in vars(type(optimizer))


def check_optimizer(keras: Any, optimizer: object) -> None:
    """Raises ForeignOptimizerError or AlreadyDistributedError unless it is an optimizer to distribute."""
    kind = f"{type(optimizer).__module__}.{type(optimizer).__qualname__}"
    if is_distributed(optimizer) or is_distributed(getattr(optimizer, "inner_optimizer", None)):
        raise AlreadyDistributedError(
            f"this {type(optimizer).__name__} is already a DistributedOptimizer",
            why="each gradient would be reduced twice",
            fix="wrap the optimizer once",
        )
    if is_horovods(optimizer):
        raise AlreadyDistributedError(
            f"this {type(optimizer).__name__} was created by Horovod's own DistributedOptimizer",
            why="under Keras 3, and under Keras 2 in a custom train_step, it does not reduce any gradient",
            fix="give the optimizer itself to hvdkit's DistributedOptimizer",
        )
    if not isinstance(optimizer, keras.optimizers.Optimizer):
        raise ForeignOptimizerError(
            f"{kind} is not an optimizer of the Keras {keras.__version__} that hvdkit found",
            why="gradients are reduced where a Keras optimizer applies them",
            fix="build it from keras.optimizers (in Keras 2 not from keras.optimizers.legacy)",
        )


def check_training(optimizer: object, size: int) -> None:
    """Raises UnreducedTrainingError or ConditionalReductionError when `fit` would not keep ranks together."""
    if is_distributed(getattr(optimizer, "inner_optimizer", None)):
        raise ConditionalReductionError(
            f"the model's {type(optimizer).__name__} is around the DistributedOptimizer",
            why="it skips a step whose gradients overflow: one rank would skip a reduction in which the "
            "others wait",
            fix="the other way round: hvd.DistributedOptimizer(keras.mixed_precision.LossScaleOptimizer("
            "optimizer)); compile then adds none",
        )
    if size > 1 and not is_distributed(optimizer):
        by = "Horovod's own DistributedOptimizer" if is_horovods(optimizer) else "no DistributedOptimizer"
        raise UnreducedTrainingError(
            f"the model is trained by {by} ({type(optimizer).__name__}) in a job of {size} ranks",
            why="no gradient would be reduced: each rank would silently train a different model",
            fix="compile with optimizer=hvd.DistributedOptimizer(optimizer), of hvdkit; load a saved model "
            "with hvd.load_model(path)",
        )


def check_plans(plans: Sequence[Mapping[str, Any]]) -> None:
    """Raises RanksDifferError where the ranks call fit with arguments by which one waits for another forever.

    plans: of each rank. epochs: the first and the end. steps: of an epoch, where given. averages: whether a
    callback averages the metrics. validates: whether there is validation data.
    """
    rank = _differing([plan["epochs"] for plan in plans])
    if rank:
        (start, end), (other_start, other_end) = plans[0]["epochs"], plans[rank]["epochs"]
        raise RanksDifferError(
            f"rank 0 fits epochs {start} to {end}, rank {rank} {other_start} to {other_end}",
            why="a rank with more epochs blocks forever in the first one that the others do not train",
            fix="give fit the same epochs and initial_epoch on every rank; after a resume on rank 0 "
            "epoch = hvd.broadcast_object(epoch, root_rank=0)",
        )
    steps = [plan["steps"] for plan in plans]
    rank = _differing(steps)
    if rank and None not in steps:
        raise RanksDifferError(
            f"steps_per_epoch is {steps[0]} on rank 0 and {steps[rank]} on rank {rank}",
            why="a rank with more steps blocks forever in the first one that the others do not take",
            fix="steps_per_epoch=hvd.steps_per_epoch(steps), with the same number on every rank",
        )
    rank = _differing([plan["averages"] for plan in plans])
    if rank:
        raise RanksDifferError(
            _only(plans, "averages", rank, "the callback that averages metrics"),
            why="that rank blocks forever at the end of its first epoch",
            fix="callbacks=hvd.callbacks([...]) on every rank; it leaves those that write to rank 0",
        )
    rank = _differing([plan["validates"] for plan in plans])
    if rank and plans[0]["averages"]:
        raise RanksDifferError(
            _only(plans, "validates", rank, "validation data"),
            why="metrics are averaged over all ranks after each epoch: that rank blocks forever in the "
            "average of val_loss, which the other does not have",
            fix="give fit validation_data, or its shard, on every rank: not under `if hvd.rank() == 0`",
        )


def check_rates(rates: Sequence[Sequence[float]]) -> None:
    """Raises RanksDifferError unless the learning rates of all ranks are the same."""
    rank = _differing(list(rates))
    if rank:
        mine, other = next(pair for pair in zip(rates[0], rates[rank]) if pair[0] != pair[1])
        raise RanksDifferError(
            f"the learning rate is {mine:g} on rank 0 and {other:g} on rank {rank}",
            why="each rank moves its weights by its own rate: the weights diverge without any error",
            fix="set the rate on every rank, to the same number: no callback and no assignment that sets it "
            "under `if hvd.rank() == 0`",
        )


def _differing(values: Sequence[Any]) -> int:
    """The first rank whose value is not that of rank 0; 0 where there is none."""
    return next((rank for rank, value in enumerate(values) if value != values[0]), 0)


def _only(plans: Sequence[Mapping[str, Any]], key: str, rank: int, what: str) -> str:
    has, lacks = (0, rank) if plans[0][key] else (rank, 0)
    return f"rank {has} gives fit {what}, and rank {lacks} does not"
