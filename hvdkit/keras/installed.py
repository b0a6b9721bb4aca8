"""Which Keras this process has and what it runs on; decided once, at import. Knows nothing of Horovod."""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any

from hvdkit.errors import HvdkitError

__all__ = ["BACKEND", "IS_KERAS_3", "keras"]


class KerasMissingError(HvdkitError):
    """Keras is not installed, or its backend has no Horovod."""


def _find_keras() -> ModuleType:
    # What tf.keras is under this setting; TensorFlow reads it the same way.
    legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    name = "tf_keras" if legacy else "keras"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise KerasMissingError(
            f"hvdkit.keras needs Keras: {error}",
            why="it wraps the optimizers and callbacks of the Keras that is installed",
            fix=f"pip install {name.replace('_', '-')}",
        ) from error


def _find_backend() -> str:
    name = str(keras.backend.backend())
    if name not in ("tensorflow", "torch"):
        raise KerasMissingError(
            f"Keras runs on {name}",
            why="Horovod connects TensorFlow and PyTorch",
            fix="set KERAS_BACKEND=tensorflow or KERAS_BACKEND=torch before Keras is imported",
        )
    return name


keras: Any = _find_keras()
IS_KERAS_3: bool = int(keras.__version__.split(".")[0]) >= 3
BACKEND: str = _find_backend()
