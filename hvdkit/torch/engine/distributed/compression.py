"""Compression of what is reduced: the interface and the two kinds of horovod.torch.Compression."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class NoneCompressor:
    """Sends a tensor as it is."""

    @staticmethod
    def compress(tensor: Tensor) -> tuple[Tensor, Any]:
        """The tensor to send, and what `decompress` needs."""
        return tensor, None

    @staticmethod
    def decompress(tensor: Tensor, ctx: Any) -> Tensor:
        """The received tensor as it was before `compress`."""
        return tensor


class FP16Compressor:
    """Sends floating-point tensors as float16."""

    @staticmethod
    def compress(tensor: Tensor) -> tuple[Tensor, Any]:
        """The tensor to send, and its dtype."""
        return (tensor.to(torch.float16) if tensor.is_floating_point() else tensor), tensor.dtype

    @staticmethod
    def decompress(tensor: Tensor, ctx: Any) -> Tensor:
        """The received tensor in the dtype that it had before `compress`."""
        return tensor.to(ctx) if tensor.is_floating_point() else tensor


class Compression:
    """The compressors by name."""

    none = NoneCompressor
    fp16 = FP16Compressor
