"""Mistakes of Keras scripts that would cost a run, each refused before or at the first step.

Those that every framework has are in hvdkit.guards. No framework is imported here.
"""

from __future__ import annotations

from typing import Any

from hvdkit.errors import HvdkitError
from hvdkit.guards import AlreadyDistributedError, ForeignOptimizerError

# What DistributedOptimizer leaves in the class that it makes.
MARK = "_hvdkit_reduces"


class JitCompileError(HvdkitError):
    """XLA was asked to compile a step with a collective in it."""


class UnreducedTrainingError(HvdkitError):
    """A model is trained in a job of several ranks, and nothing reduces its gradients."""


class UnsharedStartError(HvdkitError):
    """A model is fitted in a job of several ranks, and nothing makes their first weights equal."""


class RanksDifferError(HvdkitError):
    """The ranks have different learning rates, or metrics of different names."""


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
            fix="compile with optimizer=hvd.DistributedOptimizer(optimizer), of hvdkit",
        )


def check_start(name: str, digests: list[str]) -> None:
    """Raises UnsharedStartError where the ranks' weights differ, and nothing will make them equal."""
    if len(set(digests)) > 1:
        raise UnsharedStartError(
            f"the model {name!r} is fitted by {len(digests)} ranks, each from different initial weights",
            why="the average of their gradients belongs to none of these models; nothing makes them equal",
            fix="model.fit(..., callbacks=hvd.callbacks([...])), or hvd.broadcast(model) before it",
        )


def check_reduced(model: Any, before: int, after: int, size: int) -> None:
    """Raises UnreducedTrainingError where the first step of a train_step of its own reduced nothing."""
    if size > 1 and before == after:
        raise UnreducedTrainingError(
            f"the train_step of {type(model).__name__} reduces nothing, in a job of {size} ranks",
            why="each rank would silently train a different model",
            fix="tape = hvd.DistributedGradientTape(tape) before tape.gradient(...), or give compile "
            "optimizer=hvd.DistributedOptimizer(optimizer)",
        )


def check_alike(said: list[Any]) -> None:
    """Raises RanksDifferError unless all ranks say the same: (names of their metrics, learning rate)."""
    names, rates = [list(one[0]) for one in said], [one[1] for one in said]
    other = next((rank for rank, one in enumerate(names) if one != names[0]), None)
    if other is not None:
        raise RanksDifferError(
            f"metrics of rank 0: {', '.join(names[0])}; of rank {other}: {', '.join(names[other]) or 'none'}",
            why="each is averaged over all ranks: one that a rank does not have is waited for forever",
            fix="give fit the same metrics and validation_data on every rank",
        )
    other = next((rank for rank, one in enumerate(rates) if one != rates[0]), None)
    if other is not None:
        raise RanksDifferError(
            f"the learning rate of rank 0 is {rates[0]:g}, that of rank {other} {rates[other]:g}",
            why="the averaged gradients move the weights of each rank by its own rate: the models part",
            fix="set the rate on every rank, by the same number: not under `if hvd.rank() == 0:`",
        )
