"""`import hvdkit.tensorflow.keras as hvd` instead of horovod.tensorflow.keras: hvdkit.keras on TensorFlow."""

# ruff: noqa: F403  All names are passed on.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hvdkit.keras import *

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
