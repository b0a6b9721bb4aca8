"""Where Keras updates weights: the innermost method of each kind of optimizer, and what an optimizer holds.

The gradients are reduced, unscaled and clipped there, and a strategy calls it once for all of its replicas.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

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


def state_of(optimizer: Any) -> Sequence[Any]:
    """The variables of an optimizer: its count and rate, moments, averages."""
    # Not by `variables`, which Horovod's wrapper overrides in a way that raises under Keras 3.
    held: Sequence[Any] = getattr(optimizer, "_variables", ()) or getattr(optimizer, "_weights", ())
    return held


def rate_of(optimizer: Any) -> float:
    """The learning rate of the next update; legacy optimizers of Keras return a schedule itself."""
    from hvdkit.verify.hook.tensorflow.arrays import array_of  # once TensorFlow is imported

    rate = optimizer.learning_rate
    return float(array_of(rate(optimizer.iterations) if callable(rate) else rate))
