"""SyncBatchNorm on the CPU, where neither torch's nor Horovod's has kernels: one equivalent for both runs.

Each rank computes count, mean and variance of its own batch; these are gathered and combined in the order of
ranks, so that every rank and both runs get the same bits. The formulas are those of the CUDA kernels
(Chan et al. 1979 for combining; Ioffe and Szegedy 2015 for the gradient), their rounding is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

# A vector of each rank's values, shape (n,) -> all ranks', shape (ranks, n).
Gather = Callable[[torch.Tensor], torch.Tensor]


class Normalize(torch.autograd.Function):
    """Batch normalization over all ranks: (N, C, ...) -> the same shape."""

    @staticmethod
    def forward(
        ctx: Any,
        batch: torch.Tensor,
        weight: torch.Tensor | None,
        bias: torch.Tensor | None,
        eps: float,
        gather: Gather,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        axes = [axis for axis in range(batch.dim()) if axis != 1]
        own = torch.tensor([batch.numel() / batch.size(1)])
        variance, mean = torch.var_mean(batch.float(), axes, correction=0)
        rows = gather(torch.cat([own, mean, variance]))
        counts, means, variances = rows[:, :1], *rows[:, 1:].chunk(2, dim=1)
        count = counts.sum()
        mean = (counts * means).sum(0) / count
        variance = (counts * (variances + (means - mean) ** 2)).sum(0) / count
        ctx.inverse = torch.rsqrt(variance + eps)
        ctx.axes, ctx.gather, ctx.count, ctx.mean = axes, gather, count, mean
        ctx.save_for_backward(batch, weight)
        ctx.has_bias = bias is not None
        shape = _along_channels(batch)
        scaled = (batch - mean.view(shape)) * ctx.inverse.view(shape)
        if weight is not None and bias is not None:
            scaled = scaled * weight.view(shape) + bias.view(shape)
        ctx.mark_non_differentiable(mean, variance, count)
        return scaled.to(batch.dtype), mean, variance, count

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor, *_: Any) -> tuple[torch.Tensor | None, ...]:
        batch, weight = ctx.saved_tensors
        shape = _along_channels(batch)
        centred = batch - ctx.mean.view(shape)
        total, along = gradient.sum(ctx.axes), (gradient * centred).sum(ctx.axes)
        of_total, of_along = ctx.gather(torch.cat([total, along])).sum(0).chunk(2)
        part = centred * (ctx.inverse**2 * of_along / ctx.count).view(shape)
        scale = ctx.inverse if weight is None else ctx.inverse * weight
        of_batch = (gradient - (of_total / ctx.count).view(shape) - part) * scale.view(shape)
        of_weight = None if weight is None else along * ctx.inverse
        return of_batch.to(batch.dtype), of_weight, total if ctx.has_bias else None, None, None


def _along_channels(batch: torch.Tensor) -> list[int]:
    return [1, -1, *(1 for _ in batch.shape[2:])]


def _forward(layer: Any, batch: torch.Tensor, gather: Gather | None) -> torch.Tensor:
    """What the layer's own forward gives on a GPU. gather: None in a world of one."""
    if batch.dim() < 2:
        raise ValueError(f"expected at least 2D input (got {batch.dim()}D input)")
    tracks = layer.track_running_stats and layer.running_mean is not None
    factor = layer.momentum
    if layer.training and tracks:
        layer.num_batches_tracked.add_(1)
        factor = 1.0 / float(layer.num_batches_tracked) if factor is None else factor
    if gather is None or not (layer.training or not tracks):
        mean, variance = (layer.running_mean, layer.running_var) if tracks else (None, None)
        use_batch = layer.training or not tracks
        return functional.batch_norm(
            batch, mean, variance, layer.weight, layer.bias, use_batch, factor or 0.0, layer.eps
        )
    scaled: torch.Tensor
    scaled, mean, variance, count = Normalize.apply(  # type: ignore[no-untyped-call]
        batch, layer.weight, layer.bias, layer.eps, gather
    )
    if layer.training and tracks:
        with torch.no_grad():
            layer.running_mean.lerp_(mean, factor)
            layer.running_var.lerp_(variance * count / (count - 1), factor)
    return scaled


def map_torch() -> None:
    """torch.nn.SyncBatchNorm, with its process group."""
    import torch.distributed as dist

    all_gather = dist.all_gather  # before anything watches it: this call is not the script's

    def forward(self: Any, batch: torch.Tensor) -> torch.Tensor:
        if not dist.is_initialized() or dist.get_world_size(self.process_group) == 1:
            return _forward(self, batch, None)

        def gather(own: torch.Tensor) -> torch.Tensor:
            rows = [torch.empty_like(own) for _ in range(dist.get_world_size(self.process_group))]
            all_gather(rows, own, group=self.process_group)
            return torch.stack(rows)

        return _forward(self, batch, gather)

    # Where DDP refuses the layer on a CPU.
    setattr(torch.nn.parallel.DistributedDataParallel, "_passing_sync_batchnorm_handle", lambda *_: None)  # noqa: B010
    torch.nn.SyncBatchNorm.forward = forward  # type: ignore[method-assign, assignment]


def map_horovod() -> None:
    """hvd.SyncBatchNorm, over all ranks."""
    from horovod.torch import mpi_ops
    from horovod.torch.sync_batch_norm import SyncBatchNorm

    def gather(own: torch.Tensor) -> torch.Tensor:
        # Not allgather(): that is watched, and this call is not the script's.
        rows: torch.Tensor = mpi_ops.synchronize(mpi_ops.allgather_async(own.unsqueeze(0)))
        return rows

    def forward(self: Any, batch: torch.Tensor) -> torch.Tensor:
        return _forward(self, batch, gather if mpi_ops.size() > 1 else None)

    SyncBatchNorm.forward = forward
