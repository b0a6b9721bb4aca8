"""With more than two ranks, gradients are summed in float64 in both runs and rounded once.

Each library adds the ranks' gradients in an order of its own. In float32 that shows in the last bits, and
a parameter whose true gradient is zero (a bias in front of BatchNorm) is moved by nothing else: Adam divides
that noise by its own size. In float64 the orders differ by less than the rounding to float32 can show. What
is compressed to float16 is rounded to it before the sum and after, as without this.
"""

from __future__ import annotations

from typing import Any

import torch

from hvdkit.verify.hook.ddp import reduce_by


def widen_ddp(compressed: bool) -> None:
    """Let each DistributedDataParallel sum in float64; compressed: what is rounded to float16 before."""

    def average_in_float64(group: Any, bucket: Any) -> Any:
        import torch.distributed as dist

        gradients = bucket.buffer()
        kind = torch.float16 if compressed else gradients.dtype
        work = dist.all_reduce(gradients.to(kind).double(), group=group, async_op=True)
        count = dist.get_world_size(group)
        return work.get_future().then(lambda done: (done.value()[0] / count).to(kind).to(gradients.dtype))

    reduce_by(average_in_float64)


def widen_horovod() -> None:
    """Horovod's way to reduce in another type is a compression; these are the two that it has."""
    from horovod.torch.compression import FP16Compressor, NoneCompressor

    for compressor in (NoneCompressor, FP16Compressor):
        _widen(compressor, compressor is FP16Compressor)


def _widen(compressor: Any, compressed: bool) -> None:
    def compress(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.dtype]:
        if not tensor.is_floating_point():
            return tensor, tensor.dtype
        return (tensor.half() if compressed else tensor).double(), tensor.dtype

    def decompress(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return (tensor.half() if compressed and dtype.is_floating_point else tensor).to(dtype)

    compressor.compress = staticmethod(compress)
    compressor.decompress = staticmethod(decompress)
