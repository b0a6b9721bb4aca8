"""Tensors of TensorFlow as records: digest of every byte, norm, and the values that are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from hvdkit.observe.records import Tensor

KEPT = 65_536  # values kept of one tensor, evenly spread over it, as of one of torch's
SHORT = 16  # hexadecimal digits that tell one sample from another


def array_of(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor, variable or tf.IndexedSlices."""
    return np.asarray(tf.convert_to_tensor(tensor).numpy())


def of_replica(value: Any, k: int) -> Any:
    """What one replica of a strategy has of a value or variable, or of each in a nest."""

    def part(leaf: Any) -> Any:
        return leaf.values[k] if isinstance(leaf, tf.distribute.DistributedValues) else leaf

    return tf.nest.map_structure(part, value)


def describe(name: str, array: np.ndarray[Any, Any]) -> Tensor:
    """The record of an array under this name. Norms of what are no numbers are 0."""
    norm = 0.0 if array.dtype.kind in "OSU" else float(np.linalg.norm(array.astype(np.float64)))
    return Tensor(name, array.shape, str(array.dtype), digest([array]), norm)


def kept_values(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """At most KEPT values, evenly spread, as a flat copy."""
    flat = array.reshape(-1)
    return flat[:: -(-flat.size // KEPT) or 1].astype(np.float64)


def digest(arrays: Sequence[np.ndarray[Any, Any]]) -> str:
    """SHA-256 over the bytes of arrays, one after another (hexadecimal)."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes())
    return total.hexdigest()


def samples(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[str, ...]:
    """What tells the samples of a batch apart: a digest of each row, or of all where there are no rows."""
    lengths = {array.shape[:1] for array in arrays}
    if len(lengths) != 1 or () in lengths:
        return (digest(arrays)[:SHORT],)
    rows = range(arrays[0].shape[0])
    return tuple(digest([np.asarray(array[row]) for array in arrays])[:SHORT] for row in rows)
