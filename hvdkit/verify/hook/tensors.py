"""A tensor as a record: digest of every byte, norm, and the values that are kept to show a difference."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from hvdkit.observe.records import Tensor

# Values kept of one tensor, evenly spread over it; digests and norms are over all of it. This bounds
# what a run writes: a model of 300 tensors leaves at most 75 MB per step and rank, whatever its size.
KEPT = 65_536


def describe(name: str, tensor: torch.Tensor) -> Tensor:
    """The record of a tensor under this name."""
    dense = _dense(tensor)
    norm = float(torch.linalg.vector_norm(dense.to(torch.float64))) if dense.numel() else 0.0
    return Tensor(name, tuple(tensor.shape), str(tensor.dtype).replace("torch.", ""), digest(dense), norm)


def fingerprint(name: str, value: Any) -> Iterator[Tensor]:
    """Records without a norm, cheaper than `describe`: of a tensor, of a number, of those in a list."""
    if isinstance(value, torch.Tensor):
        yield Tensor(name, tuple(value.shape), str(value.dtype).replace("torch.", ""), digest(value), 0.0)
    elif isinstance(value, (bool, int, float)):
        yield Tensor(name, (), type(value).__name__, repr(value), 0.0)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from fingerprint(f"{name}[{place}]", item)


def digest(tensor: torch.Tensor) -> str:
    """SHA-256 of a tensor's bytes in row-major order (hexadecimal)."""
    dense = _dense(tensor)
    if not dense.numel():
        return hashlib.sha256().hexdigest()
    size = dense.numel() * dense.element_size()
    # Straight from memory: works for bfloat16, and where numpy is not installed.
    return hashlib.sha256((ctypes.c_char * size).from_address(dense.data_ptr())).hexdigest()


def kept_values(tensor: torch.Tensor) -> torch.Tensor:
    """At most KEPT values, evenly spread, as a flat copy."""
    flat = _dense(tensor).reshape(-1)
    stride = -(-flat.numel() // KEPT) or 1
    return flat[::stride].clone()


def batch_digest(batch: Any) -> str:
    """One digest over every tensor in a batch, whatever it is nested in."""
    total = hashlib.sha256()
    for tensor in tensors_in(batch):
        total.update(digest(tensor).encode())
    return total.hexdigest()


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor in mappings and sequences, however deep."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, Mapping):
        return [tensor for item in value.values() for tensor in tensors_in(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    detached = tensor.detach()
    if detached.layout is not torch.strided:
        detached = detached.to_dense()
    return detached.cpu().contiguous()
