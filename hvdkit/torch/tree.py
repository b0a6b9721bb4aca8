"""Nested state (a state_dict, extra state) as its leaves and as raw bytes, for sending and for comparing.

Knows dict, list and tuple, what torch's own optimizers nest; anything else is a leaf. Sends nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import torch
from torch import Tensor

Path = tuple[Any, ...]


def replace(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """A copy of `value` in which each leaf of type `kind` is `change(leaf)`."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, dict):
        return {key: replace(item, kind, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([replace(item, kind, change) for item in value])
    return value


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(keys on the way, leaf) of everything in `value`, in order."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def as_bytes(tensor: Tensor) -> Tensor:
    """The values as uint8, shape (nbytes,): the same memory where `tensor` is contiguous, else a copy.

    Any dtype that torch has, so nothing depends on which of them a library knows.
    """
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)
