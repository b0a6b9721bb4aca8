"""The Horovod of the framework under Keras, and what is done differently on each of them.

Keras 2 and Keras 3 on TensorFlow talk through horovod.tensorflow, Keras 3 on PyTorch through
the engine of hvdkit.torch.
"""

from __future__ import annotations

import importlib
from typing import Any

from hvdkit.keras.installed import BACKEND, IS_KERAS_3, keras

__all__ = ["BACKEND", "IS_KERAS_3", "collectives", "hvd", "keras", "raw"]

hvd: Any = (
    importlib.import_module("hvdkit.torch.engine").hvd
    if BACKEND == "torch"
    else importlib.import_module("horovod.tensorflow")
)
collectives: Any = importlib.import_module(f"hvdkit.keras.collectives.{BACKEND}")


def raw(variable: Any) -> Any:
    """The framework's own variable or tensor inside a Keras 3 variable; any other as it is."""
    return variable.value if IS_KERAS_3 and isinstance(variable, keras.Variable) else variable
