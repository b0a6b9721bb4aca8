"""Gradients between backward() and step(): clipping, loss scaling, accumulation, in the right order.

Reduce, unscale, clip, step. The optimizer remembers that it has reduced, so its step() does not again. Not
for the reduction itself: that is `reduction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Union

import torch
from torch import Tensor
from torch.optim import Optimizer

from hvdkit.torch.guards import AdasumUnsupportedError
from hvdkit.torch.optimizer import require_distributed
from hvdkit.torch.registry import parameters_of

__all__ = ["accumulate", "clip_grad_norm_", "clip_grad_value_", "scaler_step"]

Parameters = Union[Tensor, Iterable[Tensor]]


def clip_grad_norm_(
    optimizer: Optimizer, parameters: Parameters, max_norm: float, *args: Any, **kwargs: Any
) -> Tensor:
    """Reduce, then `torch.nn.utils.clip_grad_norm_(parameters, max_norm, ...)`; then call `step()`.

    Returns the norm of the averaged gradients before clipping, the same on all ranks.
    Raises NotDistributedError or AdasumUnsupportedError.
    """
    _synchronize(optimizer, "clipping gradients")
    return torch.nn.utils.clip_grad_norm_(parameters, max_norm, *args, **kwargs)


def clip_grad_value_(
    optimizer: Optimizer, parameters: Parameters, clip_value: float, *args: Any, **kwargs: Any
) -> None:
    """Reduce, then `torch.nn.utils.clip_grad_value_(parameters, clip_value, ...)`; then call `step()`.

    Raises NotDistributedError or AdasumUnsupportedError.
    """
    _synchronize(optimizer, "clipping gradients")
    torch.nn.utils.clip_grad_value_(parameters, clip_value, *args, **kwargs)


def scaler_step(
    scaler: torch.amp.GradScaler, optimizer: Optimizer, clip: float | None = None
) -> Tensor | None:
    """Reduce, unscale, clip if asked, step: instead of `scaler.step(optimizer)`. `scaler.update()` is yours.

    After the reduction an overflow on one rank is on all of them, so all skip the step together.
    clip: largest norm of the averaged gradients of all parameters of the optimizer.
    Returns that norm before clipping, or None without `clip`.
    Raises NotDistributedError or AdasumUnsupportedError.
    """
    _synchronize(optimizer, "a GradScaler")
    scaler.unscale_(optimizer)
    norm = None
    if clip is not None:
        norm = torch.nn.utils.clip_grad_norm_(parameters_of(optimizer), clip)
    scaler.step(optimizer)
    optimizer._synchronized = False  # type: ignore[attr-defined]  # a skipped step() has not said so
    return norm


@contextmanager
def accumulate(optimizer: Optimizer, enabled: bool = True) -> Iterator[None]:
    """Inside, backward() adds gradients up on this rank and reduces nothing: DDP's `no_sync()`.

    The next backward() outside, or step(), reduces the sum. Wrap every backward() of a window but the last:

        with hvd.accumulate(optimizer, not last):
            loss.backward()
        if last:
            optimizer.step()

    enabled: False makes it do nothing, so that one `with` serves all batches.
    Raises NotDistributedError.
    """
    require_distributed(optimizer)
    if not enabled:
        yield
        return
    state: Any = optimizer
    if any(handle is not None for handle, _ in state._handles.values()):
        state.synchronize()  # as DDP: what was reduced before stays, and the new gradients come on top
    delay = state._allreduce_delay
    # Horovod's hook counts down to the reduction; from infinity it never gets there.
    state._allreduce_delay = dict.fromkeys(delay, float("inf"))
    try:
        yield
    finally:
        state._allreduce_delay = delay


def _synchronize(optimizer: Optimizer, purpose: str) -> None:
    require_distributed(optimizer)
    if hasattr(optimizer, "_starting_models"):
        raise AdasumUnsupportedError(
            f"{purpose} with Adasum",
            why="Adasum has already stepped when backward() returns, and never has averaged gradients",
            fix="leave it out, or use the default op",
        )
    optimizer.synchronize()  # type: ignore[attr-defined]
