"""Collectives of Keras 3 on PyTorch, where each step runs eagerly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hvdkit.errors import UsageError
from hvdkit.keras.reduction import Apply, Reduction, Step
from hvdkit.torch.compression import AnyLayout
from hvdkit.torch.engine import hvd
from hvdkit.torch.tree import as_bytes


def averaging(reduction: Reduction) -> Step:
    """Reduce the gradients, then apply them."""
    compression = AnyLayout(reduction.compression)
    op, before, after = reduction.op, 1.0, 1.0
    if reduction.gradient_predivide_factor != 1.0:
        factor = reduction.gradient_predivide_factor
        op, before, after = hvd.Sum, 1 / factor, factor / reduction.process_set.size()
    if reduction.groups is not None:
        raise UsageError(
            "groups is given, and Keras runs on PyTorch",
            why="all gradients are reduced concurrently there, and Horovod fuses them itself",
            fix="leave groups out",
        )

    def step(gradients: Sequence[Tensor | None], variables: Sequence[Any], apply: Apply) -> None:
        if reduction.process_set.size() == 1:
            apply(gradients)
            return
        under_way: list[Any] = []
        for index, gradient in enumerate(gradients):
            if gradient is None:
                under_way.append(None)
                continue
            if gradient.is_sparse and reduction.sparse_as_dense:
                gradient = gradient.to_dense()
            sent, context = compression.compress(gradient)
            handle = hvd.allreduce_async(
                sent,
                name=f"{reduction.name}.{index}",
                op=op,
                prescale_factor=before,
                postscale_factor=after,
                process_set=reduction.process_set,
            )
            under_way.append((handle, context))
        apply([part and compression.decompress(hvd.synchronize(part[0]), part[1]) for part in under_way])

    return _uncompiled(step)


def combining_updates(reduction: Reduction) -> Step:
    """Adasum: apply this rank's gradients, then combine how far each rank has moved.

    Source: Maleki et al. 2020, arXiv:2006.02924, and horovod/torch/optimizer.py, _DistributedAdasumOptimizer.
    """
    compression = AnyLayout(reduction.compression)

    def step(gradients: Sequence[Tensor | None], variables: Sequence[Tensor], apply: Apply) -> None:
        start = [variable.detach().clone() for variable in variables]
        apply(gradients)
        with torch.no_grad():
            for index, (variable, before) in enumerate(zip(variables, start)):
                sent, context = compression.compress(variable.detach() - before)
                update = hvd.allreduce(sent, op=hvd.Adasum, name=f"{reduction.name}.update.{index}")
                variable.copy_(before + compression.decompress(update, context))

    return _uncompiled(step)


def accumulating(step: Step, passes: int, mean: bool) -> Step:
    """Add up gradients on this rank, and take `step` with the sum, or mean, at every passes-th call."""
    sums: list[Tensor | None] = []
    calls = 0

    def accumulate(gradients: Sequence[Tensor | None], variables: Sequence[Any], apply: Apply) -> None:
        nonlocal calls
        if not sums:
            sums.extend(None for _ in gradients)
        for index, gradient in enumerate(gradients):
            if gradient is not None:
                previous = sums[index]
                # The next backward pass writes into the gradient: a copy is kept.
                sums[index] = gradient.detach().clone() if previous is None else previous + gradient
        calls += 1
        if calls < passes:
            return
        calls = 0
        complete = [g / passes if mean and g is not None else g for g in sums]
        sums.clear()
        step(complete, variables, apply)

    return accumulate


def broadcast(variables: Sequence[Tensor], root_rank: int, process_set: Any) -> None:
    """Give each variable the value that it has on the root rank."""
    for index, variable in enumerate(variables):
        if variable.numel():
            bits = as_bytes(variable)
            sent = hvd.broadcast(bits, root_rank, name=f"hvdkit.keras.{index}", process_set=process_set)
            with torch.no_grad():
                variable.copy_(sent.view(variable.dtype).view(variable.shape))


def total(numbers: np.ndarray[Any, np.dtype[np.float64]], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The sum over ranks of a vector of float64."""
    summed: np.ndarray[Any, np.dtype[np.float64]] = hvd.allreduce(
        torch.from_numpy(numbers), op=hvd.Sum, name=name
    ).numpy()
    return summed


def on_gpu() -> bool:
    """Whether this process computes on a GPU."""
    return torch.cuda.is_available()


def _uncompiled(step: Step) -> Step:
    """torch.compile leaves its graph for `step`: a collective is nothing that it could compile."""
    return torch.compiler.disable(step)  # type: ignore[no-any-return, no-untyped-call]
