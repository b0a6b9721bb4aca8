"""Horovod for Keras with the traps taken out: `import hvdkit.keras as hvd` instead of horovod.keras.

For Keras 2 and Keras 3 on TensorFlow, and for Keras 3 on PyTorch. Every public name of Horovod for that
framework is here, and the helpers below are added or take the place of Horovod's. See docs/tensorflow.md.
"""

# ruff: noqa: E402, F403  Horovod is checked before the rest is imported; all of its names are passed on.
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hvdkit.keras.installed import BACKEND
from hvdkit.keras.installed import KerasMissingError as KerasMissingError

# First: it checks Horovod for this framework, and hvdkit.tensorflow needs parts of this package itself.
importlib.import_module(f"hvdkit.{BACKEND}")

if BACKEND == "torch":
    from hvdkit.torch.context import Context as Context
    from hvdkit.torch.context import init as init
    from hvdkit.torch.data import distribute as distribute
else:
    from horovod.tensorflow.keras import *

    from hvdkit.tensorflow.context import Context as Context  # type: ignore[assignment]
    from hvdkit.tensorflow.context import init as init  # type: ignore[assignment]
    from hvdkit.tensorflow.data import shard_arrays as shard_arrays
    from hvdkit.tensorflow.data import shard_dataset as shard_dataset

from hvdkit.keras.backend import hvd as _hvd
from hvdkit.keras.broadcast import broadcast as broadcast
from hvdkit.keras.callbacks import callbacks as callbacks
from hvdkit.keras.fit import average as average
from hvdkit.keras.fit import steps_per_epoch as steps_per_epoch
from hvdkit.keras.fit import verbose as verbose
from hvdkit.keras.fitting import watch_fit as _watch_fit
from hvdkit.keras.learning_rate import lr_factor as lr_factor
from hvdkit.keras.learning_rate import scale_lr as scale_lr
from hvdkit.keras.optimizer import DistributedOptimizer as DistributedOptimizer
from hvdkit.keras.optimizer import unwrap as unwrap
from hvdkit.keras.saving import load_model as load_model

_watch_fit()

if BACKEND == "torch":  # all else that hvdkit.torch's engine has
    for _name, _value in vars(_hvd).items():
        if not _name.startswith("_"):
            globals().setdefault(_name, _value)

# Horovod leaves these out of its Keras modules.
Adasum = _hvd.Adasum
broadcast_object = _hvd.broadcast_object
allgather_object = _hvd.allgather_object

if TYPE_CHECKING:
    # Horovod has no type hints: its names exist, a type checker just cannot see them.
    def __getattr__(name: str) -> Any: ...
