"""Lets every dense gradient through Horovod's allreduce, whatever its dtype and memory layout.

Horovod reduces float16, float32, float64, int32 and int64 in contiguous memory, and no complex numbers. A
compressor sees each gradient before and its average after the reduction, so this one goes around any other.
Not a way to send less: that is `horovod.torch.Compression.fp16`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

__all__ = ["AnyLayout", "Compressor"]


class Compressor(Protocol):
    """Horovod's interface: what `horovod.torch.Compression.none` and `.fp16` are."""

    def compress(self, tensor: Tensor) -> tuple[Tensor, Any]:
        """The tensor to send, and what `decompress` needs."""

    def decompress(self, tensor: Tensor, ctx: Any) -> Tensor:
        """The received tensor as it was before `compress`."""


class _Restore(NamedTuple):
    """How a gradient looked that could not be sent as it was."""

    like: Tensor
    inner: Any


class AnyLayout:
    """Sends bfloat16 as float32, complex numbers as pairs of real ones, strided memory (channels_last)
    contiguous; the rest untouched.
    """

    def __init__(self, inner: Compressor) -> None:
        self._compress = inner.compress
        self._decompress = inner.decompress

    def compress(self, tensor: Tensor) -> tuple[Tensor, Any]:
        """See Compressor; runs for each gradient of each step, so the common case does three checks."""
        if tensor.dtype is not torch.bfloat16 and tensor.is_contiguous() and not tensor.is_complex():
            return self._compress(tensor)
        sendable = tensor.float() if tensor.dtype is torch.bfloat16 else tensor
        if tensor.is_complex():
            sendable = torch.view_as_real(tensor.detach().resolve_conj())
        compressed, ctx = self._compress(sendable.contiguous())
        return compressed, _Restore(tensor, ctx)

    def decompress(self, tensor: Tensor, ctx: Any) -> Tensor:
        """See Compressor. The result has the dtype and strides of the gradient before `compress`."""
        if type(ctx) is _Restore:
            received = self._decompress(tensor, ctx.inner)
            if ctx.like.is_complex():
                received = torch.view_as_complex(received)
            return ctx.like.detach().copy_(received)
        if tensor.is_sparse:
            return tensor  # Horovod gathers sparse gradients without asking the compressor first
        return self._decompress(tensor, ctx)
