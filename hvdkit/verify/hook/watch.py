"""Puts the recorder's calls into torch and Horovod: optimizer steps, losses, sample order.

Everything is patched on classes or in the defining module right after import, before the script can have
taken a reference.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch

from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.records import Event

_depth = threading.local()


def watch_torch(recorder: Recorder) -> None:
    """Watch everything that torch itself offers."""
    _watch_optimizers(recorder)
    _watch_losses(recorder)


def watch_horovod(recorder: Recorder) -> None:
    """Tell Horovod's own step inside broadcast_optimizer_state from the script's."""
    import horovod.torch.functions as functions

    broadcast = functions.broadcast_optimizer_state

    @functools.wraps(broadcast)
    def broadcast_optimizer_state(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        stateless = not optimizer.state_dict()["state"]
        with _inside():
            result = broadcast(optimizer, *args, **kwargs)
        if stateless:
            recorder.events.append(Event("phantom step", type(optimizer).__name__))
        return result

    functions.broadcast_optimizer_state = broadcast_optimizer_state


class _inside:  # noqa: N801  reads as a phrase: with _inside()
    """Steps taken in here belong to an outer call and are not recorded."""

    def __enter__(self) -> None:
        _depth.value = getattr(_depth, "value", 0) + 1

    def __exit__(self, *_: object) -> None:
        _depth.value -= 1


def _watch_optimizers(recorder: Recorder) -> None:
    """Wrap `step` of every optimizer class when its first instance is made.

    A wrapping optimizer's step calls the wrapped one's: only the outermost call is a step of the script,
    and only the innermost one sees the gradients that are applied.
    """
    create = torch.optim.Optimizer.__init__

    @functools.wraps(create)
    def init(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
        create(self, *args, **kwargs)
        kind = type(self)
        if not hasattr(kind.step, "hvdkit_watched"):
            kind.step = _watched_step(kind.step, recorder)  # type: ignore[method-assign]

    torch.optim.Optimizer.__init__ = init  # type: ignore[method-assign]


def _watched_step(step: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    reduces_first = step.__module__.startswith(("horovod.", "hvdkit."))

    @functools.wraps(step)
    def watched(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        outermost = not getattr(_depth, "value", 0)
        if outermost:
            recorder.before_step(self)
        with _inside():
            if not reduces_first:
                recorder.before_update(self)
            result = step(self, *args, **kwargs)
        if outermost:
            recorder.after_step(self)
        return result

    watched.hvdkit_watched = True  # type: ignore[attr-defined]
    return watched


def _watch_losses(recorder: Recorder) -> None:
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        if self.numel() == 1:
            recorder.losses.append(float(self.detach()))
        backward(self, *args, **kwargs)

    torch.Tensor.backward = watched  # type: ignore[method-assign,assignment]
