"""Where Keras updates weights: the innermost method of each kind of optimizer, and what an optimizer holds.

The gradients are reduced, unscaled and clipped there, and a strategy calls it once for all of its replicas.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from hvdkit.observe.records import Tensor

# Module: the class, and its method that is called with (strategy, pairs of gradient and variable, ...).
UPDATES = {
    "keras.src.optimizers.optimizer": ("Optimizer", "_distributed_apply_gradients_fn"),  # Keras 2
    "keras.src.backend.tensorflow.optimizer": ("TFOptimizer", "_distributed_tf_update_step"),
    "keras.src.optimizers.legacy.optimizer_v2": ("OptimizerV2", "_distributed_apply"),
}


def after_definition(watch: Callable[[Any, str], None]) -> dict[str, Callable[[], None]]:
    """For after_import: watch(class, method) once the module of an update has been imported."""

    def call(module: str) -> Callable[[], None]:
        kind, method = UPDATES[module]

        def defined() -> None:
            found = getattr(sys.modules[module], kind)
            if hasattr(found, method):  # Keras 3 has a module of the name that Keras 2 has
                watch(found, method)

        return defined

    return {module: call(module) for module in UPDATES}


def settings_of(optimizer: Any) -> tuple[Tensor, ...]:
    """What an optimizer is made with, but for its rate, which is compared by itself, and how it is called."""
    configured: dict[str, Any] = optimizer.get_config()
    return tuple(
        Tensor(name, (), type(value).__name__, repr(value), 0.0)
        for name, value in configured.items()
        if name not in ("learning_rate", "name", "jit_compile")
        and isinstance(value, (bool, int, float, type(None)))
    )


class AtRate:
    """The rate of one update, set and put back; the optimizer may have a schedule."""

    def __init__(self, optimizer: Any) -> None:
        held = getattr(optimizer, "_learning_rate", None)
        self.variable = getattr(optimizer, "_current_learning_rate", None) if callable(held) else held
        self.can_be_set = self.variable is not None or callable(held)
        self.rate = self.own = 0.0

    def set(self, rate: float) -> None:
        """For this update."""
        self.rate = rate
        if self.variable is not None:
            self.own = float(self.variable.numpy())
            self.variable.assign(rate)

    def arguments(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of the update after its gradients: Keras 3 has the rate among them."""
        return (self.rate, *given[1:]) if given and self.variable is None else given

    def put_back(self) -> None:
        """After it."""
        if self.variable is not None:
            self.variable.assign(self.own)


def state_of(optimizer: Any) -> Sequence[Any]:
    """The variables of an optimizer: its count and rate, moments, averages."""
    # Not by `variables`, which Horovod's wrapper overrides in a way that raises under Keras 3.
    held: Sequence[Any] = getattr(optimizer, "_variables", ()) or getattr(optimizer, "_weights", ())
    return held


def rate_of(optimizer: Any, pace: int = 1) -> float:
    """The learning rate of the next update; with a schedule, if one update counted as so many.

    Legacy optimizers of Keras return a schedule itself.
    """
    from hvdkit.observe.tensorflow.arrays import array_of  # once TensorFlow is imported

    held = getattr(optimizer, "_learning_rate", None)
    rate = held if callable(held) and pace > 1 else optimizer.learning_rate
    return float(array_of(rate(optimizer.iterations * pace) if callable(rate) else rate))
