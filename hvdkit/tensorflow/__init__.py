"""Horovod for TensorFlow 2 with the traps taken out: `import hvdkit.tensorflow as hvd`.

Every public name of horovod.tensorflow is here, `init` returns this rank's context, and the helpers below
are added. For `compile` and `fit` there is hvdkit.tensorflow.keras. See docs/tensorflow.md.
"""

# ruff: noqa: E402, F403  Horovod is checked before the rest is imported; all of its names are passed on.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hvdkit.tensorflow.backend import HorovodMissingError as HorovodMissingError
from hvdkit.tensorflow.backend import require_horovod, require_keras_on_tensorflow

require_horovod()
require_keras_on_tensorflow()

from horovod.tensorflow import *

from hvdkit.keras.broadcast import broadcast as broadcast
from hvdkit.keras.fit import average as average
from hvdkit.keras.fit import steps_per_epoch as steps_per_epoch
from hvdkit.keras.fit import verbose as verbose
from hvdkit.keras.learning_rate import lr_factor as lr_factor
from hvdkit.keras.learning_rate import scale_lr as scale_lr
from hvdkit.keras.optimizer import DistributedOptimizer as DistributedOptimizer
from hvdkit.keras.optimizer import unwrap as unwrap
from hvdkit.tensorflow.context import Context as Context
from hvdkit.tensorflow.context import init as init
from hvdkit.tensorflow.data import shard_arrays as shard_arrays
from hvdkit.tensorflow.data import shard_dataset as shard_dataset
from hvdkit.tensorflow.tape import DistributedGradientTape as DistributedGradientTape

if TYPE_CHECKING:
    # Horovod has no type hints: its names exist, a type checker just cannot see them.
    def __getattr__(name: str) -> Any: ...
