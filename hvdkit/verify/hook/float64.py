"""With more than two ranks, gradients are summed in float64 in both runs and rounded once.

Each library adds the ranks' gradients in an order of its own. In float32 that shows in the last bits, and
a parameter whose true gradient is zero (a bias in front of BatchNorm) is moved by nothing else: Adam divides
that noise by its own size. In float64 the orders differ by less than the rounding to float32 can show.
"""

from __future__ import annotations

import functools
from typing import Any

import torch


def widen_ddp() -> None:
    """Give each DistributedDataParallel a communication hook, unless the script gives it one of its own."""
    if not torch.distributed.is_available():
        return
    from torch.nn.parallel import DistributedDataParallel

    forward = DistributedDataParallel.forward

    @functools.wraps(forward)
    def widened(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._comm_hooks:
            self.register_comm_hook(self.process_group, _average_in_float64)
        return forward(self, *args, **kwargs)  # type: ignore[no-untyped-call]

    DistributedDataParallel.forward = widened  # type: ignore[method-assign]


def _average_in_float64(group: Any, bucket: Any) -> Any:
    import torch.distributed as dist

    gradients = bucket.buffer()
    work = dist.all_reduce(gradients.double(), group=group, async_op=True)
    count = dist.get_world_size(group)
    return work.get_future().then(lambda done: (done.value()[0] / count).to(gradients.dtype))


# DDP compares a hook's annotations with objects; here they are text.
_average_in_float64.__annotations__ = {}


def widen_horovod() -> None:
    """Horovod's way to reduce in another type is a compression; this is the one that is there by default."""
    from horovod.torch.compression import NoneCompressor

    def compress(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.dtype]:
        return (tensor.double() if tensor.is_floating_point() else tensor), tensor.dtype

    def decompress(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return tensor.to(dtype)

    NoneCompressor.compress = staticmethod(compress)
    NoneCompressor.decompress = staticmethod(decompress)
