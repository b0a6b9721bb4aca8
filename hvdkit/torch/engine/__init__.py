"""What the collectives of hvdkit.torch run on: Horovod, or torch.distributed.

HVDKIT_ENGINE says which: `horovod`, `torch`, or nothing, which is Horovod where it is installed. The rest of
hvdkit.torch imports `hvd` from here: the names of horovod.torch, whatever is below.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any, Protocol, cast

from hvdkit.errors import UsageError
from hvdkit.torch.backend import require_horovod, require_torch

VARIABLE = "HVDKIT_ENGINE"


class Engine(Protocol):
    """What the module of an engine holds.

    hvd: functions with the names and the meaning of horovod.torch's. optimizers: the methods of Horovod's
    distributed optimizers, which hvdkit.torch lays its own over.
    """

    hvd: ModuleType
    optimizers: ModuleType

    def start(self, comm: Any, process_sets: Any) -> None:
        """Connect the ranks of the launcher. Raises an error that says what to type where they cannot be."""

    def title(self) -> str:
        """The engine in a few words, once it has started."""


def chosen() -> str:
    """ "horovod" or "torch". Raises: UsageError, if HVDKIT_ENGINE is neither."""
    name = os.environ.get(VARIABLE, "")
    if name not in ("", "horovod", "torch"):
        raise UsageError(
            f"{VARIABLE}={name} is not an engine", fix=f"set {VARIABLE} to horovod or torch, or unset it"
        )
    return name or ("horovod" if importlib.util.find_spec("horovod") else "torch")


def _load() -> Engine:
    require_torch()
    if chosen() == "torch":
        return cast("Engine", importlib.import_module("hvdkit.torch.engine.torch_distributed"))
    require_horovod()
    return cast("Engine", importlib.import_module("hvdkit.torch.engine.horovod"))


engine = _load()
hvd = engine.hvd
optimizers = engine.optimizers
