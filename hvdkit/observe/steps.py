"""An optimizer step as the script means it, once, whatever it is made of.

Steps come from torch's own global hooks (torch 2.0 and later): they fire for every optimizer class, and for
the classes that Horovod makes on the fly. A wrapping optimizer's step calls the wrapped one's, and Horovod
takes steps for its own ends: those are parts.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

OfOptimizer = Callable[[torch.optim.Optimizer], None]
Tell = Callable[[str, str], None]


class _Depth(threading.local):
    """How deep this thread is in something."""

    value = 0


_parts = _Depth()  # in what steps belong to
_steps = _Depth()  # in steps, as all that watch them count


@contextmanager
def part_of_a_step() -> Iterator[None]:
    """Steps taken in here belong to something larger."""
    _parts.value += 1
    try:
        yield
    finally:
        _parts.value -= 1


def inside_a_step() -> bool:
    """Whether this thread is in a step, or in what steps belong to."""
    return bool(_parts.value or _steps.value)


def inside_a_part() -> bool:
    """Whether this thread is in what steps belong to."""
    return bool(_parts.value)


def around_steps(before_step: OfOptimizer, before_update: OfOptimizer, after_step: OfOptimizer) -> None:
    """Call back around each step.

    Only the outermost call is a step of the script, and only the innermost sees the gradients that are
    applied: before_update is called for each, the others for the outermost. Several may watch, each by a
    depth of its own. An optimizer's own hooks may average the gradients: before_update is called after them.
    """
    own = _Depth()
    last: WeakKeyDictionary[torch.optim.Optimizer, Any] = WeakKeyDictionary()

    def update(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        before_update(optimizer)

    def before(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        if not _parts.value and not own.value:
            before_step(optimizer)
        if optimizer not in last:
            last[optimizer] = optimizer.register_step_pre_hook(update)
        hooks: Any = optimizer._optimizer_step_pre_hooks
        hooks.move_to_end(last[optimizer].id)
        own.value += 1
        _steps.value += 1

    def after(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        own.value -= 1
        _steps.value -= 1
        if not _parts.value and not own.value:
            after_step(optimizer)

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def hide_state_steps(tell: Tell) -> None:
    """Make Horovod's own step inside broadcast_optimizer_state a part; tell ("phantom step", optimizer)."""
    import horovod.torch.functions as functions

    send_state = functions.broadcast_optimizer_state

    @functools.wraps(send_state)
    def broadcast_optimizer_state(optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        fresh = not optimizer.state_dict()["state"]
        with part_of_a_step():
            result = send_state(optimizer, *args, **kwargs)
        if fresh:
            tell("phantom step", type(optimizer).__name__)
        return result

    functions.broadcast_optimizer_state = broadcast_optimizer_state


def hide_adasum_steps() -> None:
    """Adasum steps once per parameter inside backward(); only its step() is one of the script's."""
    from horovod.torch.optimizer import _DistributedAdasumOptimizer as Adasum

    update = Adasum._allreduce_grad_async

    def update_of_one(self: torch.optim.Optimizer, parameter: torch.Tensor) -> Any:
        with part_of_a_step():
            return update(self, parameter)

    Adasum._allreduce_grad_async = update_of_one
