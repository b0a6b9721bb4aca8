"""Puts the recorder's calls around optimizer steps and losses.

Steps come from torch's own global hooks (torch 2.0 and later): they fire for every optimizer class, and for
the classes that Horovod makes on the fly.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.seeds import align
from hvdkit.verify.records import Event

_depth = threading.local()


@contextmanager
def part_of_a_step() -> Iterator[None]:
    """Steps taken in here belong to something larger and are not recorded."""
    _depth.value = getattr(_depth, "value", 0) + 1
    try:
        yield
    finally:
        _depth.value -= 1


def watch_steps(recorder: Recorder) -> None:
    """A wrapping optimizer's step calls the wrapped one's, and the hooks fire for both.

    Only the outermost call is a step of the script, and only the innermost sees the gradients that are
    applied.
    """

    def before(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if not getattr(_depth, "value", 0):
            recorder.before_step(optimizer)
        recorder.before_update(optimizer)
        _depth.value = getattr(_depth, "value", 0) + 1

    def after(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        _depth.value -= 1
        if not _depth.value:
            recorder.after_step(optimizer)
            align(recorder.settings, "step", *recorder.counts.values())

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def watch_losses(recorder: Recorder) -> None:
    """Note each number that backward() is called on."""
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        if self.numel() == 1:
            recorder.losses.append(float(self.detach()))
        backward(self, *args, **kwargs)  # type: ignore[no-untyped-call]

    torch.Tensor.backward = watched  # type: ignore[method-assign]


def watch_horovod_state() -> None:
    """Note what Horovod sends at the start, and its own step inside broadcast_optimizer_state."""
    import horovod.torch.functions as functions

    send_state, send_parameters = functions.broadcast_optimizer_state, functions.broadcast_parameters

    @functools.wraps(send_state)
    def broadcast_optimizer_state(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        fresh = not optimizer.state_dict()["state"]
        with part_of_a_step():
            result = send_state(optimizer, *args, **kwargs)
        if fresh:
            Recorder.of_process().events.append(Event("phantom step", type(optimizer).__name__))
        return result

    @functools.wraps(send_parameters)
    def broadcast_parameters(*args: Any, **kwargs: Any) -> Any:
        Recorder.of_process().events.append(Event("broadcast"))
        return send_parameters(*args, **kwargs)

    functions.broadcast_optimizer_state = broadcast_optimizer_state
    functions.broadcast_parameters = broadcast_parameters


def watch_horovod_adasum() -> None:
    """Adasum steps once per parameter inside backward(); only its step() is one of the script's."""
    from horovod.torch.optimizer import _DistributedAdasumOptimizer as Adasum

    update = Adasum._allreduce_grad_async

    def update_of_one(self: torch.optim.Optimizer, parameter: torch.Tensor) -> Any:
        with part_of_a_step():
            return update(self, parameter)

    Adasum._allreduce_grad_async = update_of_one
