"""Whether a fit starts from the same weights on all ranks, and whether its steps reduce anything.

An optimizer and a tape know nothing of the fit that they work in: it is looked for in the calls above them.
"""

from __future__ import annotations

import hashlib
import sys
from types import FrameType
from typing import Any
from weakref import WeakSet

from hvdkit.keras import guards
from hvdkit.keras.backend import collectives, hvd, keras

__all__ = ["begin_step", "mark_sent", "steps_begun"]

# Horovod's callback has the same name.
_BROADCAST = "BroadcastGlobalVariablesCallback"
_sent: WeakSet[Any] = WeakSet()
_begun = 0


def mark_sent(model: Any) -> None:
    """The weights of a model are rank 0's on all ranks."""
    _sent.add(model)


def steps_begun() -> int:
    """How many steps that reduce were begun, or traced."""
    return _begun


def begin_step() -> None:
    """Called where gradients are about to be reduced, on all ranks.

    Raises UnsharedStartError in a fit without a callback to broadcast, where the ranks' weights differ.
    """
    global _begun
    _begun += 1
    model = _fitted() if hvd.size() > 1 else None
    if model is not None and model not in _sent:
        _sent.add(model)  # the ranks are compared once
        guards.check_start(model.name, collectives.outside(lambda: hvd.allgather_object(_digest(model))))


def _fitted() -> Any:
    """The model whose fit this step is in, where no callback of that fit broadcasts; else None."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        model = frame.f_locals.get("self") if frame.f_code.co_name == "fit" else None
        callbacks = frame.f_locals.get("callbacks") if isinstance(model, keras.Model) else None
        if isinstance(callbacks, keras.callbacks.CallbackList):
            names = {type(callback).__name__ for callback in callbacks.callbacks}
            return None if _BROADCAST in names else model
        frame = frame.f_back
    return None


def _digest(model: Any) -> str:
    return hashlib.sha256(b"".join(weight.tobytes() for weight in model.get_weights())).hexdigest()
