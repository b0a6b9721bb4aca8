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
