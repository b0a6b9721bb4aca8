"""What this process has trained together with the other ranks so far."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

__all__ = ["fitted_together", "note_reduction", "note_together", "reduced_before"]

_together: WeakSet[Any] = WeakSet()
_reduced = False


def note_reduction() -> None:
    """An optimizer or a tape is about to reduce gradients, or is traced to."""
    global _reduced
    _reduced = True


def reduced_before() -> bool:
    """Whether gradients were reduced in this process."""
    return _reduced


def note_together(model: Any) -> None:
    """All ranks fit this model."""
    _together.add(model)


def fitted_together(model: Any) -> bool:
    """Whether all ranks have fitted this model before."""
    return model in _together
