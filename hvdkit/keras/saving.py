"""load_model(): a saved model, with its optimizer reducing again."""

from __future__ import annotations

from typing import Any

from hvdkit.keras.backend import keras
from hvdkit.keras.optimizer import DistributedOptimizer

__all__ = ["load_model"]


def load_model(filepath: Any, *, custom_objects: dict[str, Any] | None = None, **distributed: Any) -> Any:
    """`keras.models.load_model`, and DistributedOptimizer on the optimizer that was saved with the model.

    Takes models saved with a DistributedOptimizer and models saved without. Every rank reads the file; the
    broadcast at the start of `fit` makes them equal.

    custom_objects: as in Keras. distributed: arguments for DistributedOptimizer.
    """
    model = keras.models.load_model(filepath, custom_objects=custom_objects)
    if getattr(model, "optimizer", None) is not None:
        model.optimizer = DistributedOptimizer(model.optimizer, **distributed)
    return model
