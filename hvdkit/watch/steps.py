"""Hooks into torch and horovod.torch: counts steps, keeps the history, calls back at the steps due.

No hook changes what a call does. None talks to the other ranks but the comparison after a step that is due.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.optim import Optimizer

from hvdkit.observe.steps import around_steps, hide_state_steps, inside_a_step, part_of_a_step
from hvdkit.sync.history import HISTORY, LOAD, LOAD_SCALER, LOAD_SCHEDULER, SCHEDULER_STEP

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


def watch_torch() -> None:
    """Note loaded states, schedulers' steps, and gradients that are clipped before they are reduced."""
    HISTORY.watched = True
    _note_calls(torch.nn.Module, "load_state_dict", LOAD)
    _note_calls(Optimizer, "load_state_dict", LOAD)
    _note_calls(torch.amp.GradScaler, "load_state_dict", LOAD_SCALER)
    for scheduler in _schedulers():
        _note_calls(scheduler, "load_state_dict", LOAD_SCHEDULER)
        _note_calls(scheduler, "step", SCHEDULER_STEP)
    made = _all_optimizers()
    for name in CLIPS:
        _note_clipping(name, made)


def watch_operations() -> None:
    """Note what is broadcast, and hvd.join()."""
    import horovod.torch.mpi_ops as operations

    send, join = operations._broadcast_async, operations.join

    @functools.wraps(send)
    def broadcast_async(tensor: torch.Tensor, output: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        HISTORY.note("broadcast")
        HISTORY.sent.add(output.data_ptr())
        return send(tensor, output, *args, **kwargs)

    @functools.wraps(join)
    def noted_join(*args: Any, **kwargs: Any) -> Any:
        HISTORY.note("join")
        return join(*args, **kwargs)

    operations._broadcast_async = broadcast_async
    operations.join = noted_join


def watch_functions() -> None:
    """Horovod's own step inside broadcast_optimizer_state is none of the script's."""
    hide_state_steps(lambda what, _: HISTORY.note(what))


OfStep = Callable[[Optimizer, int], None]


def count_steps(*each: OfStep) -> None:
    """Call back after each step with its number, counted for each optimizer. One that a GradScaler skips
    counts, too.
    """
    taken: WeakKeyDictionary[Optimizer, int] = WeakKeyDictionary()
    updated: WeakSet[Optimizer] = WeakSet()

    def after(optimizer: Optimizer) -> None:
        updated.clear()
        taken[optimizer] = step = taken.get(optimizer, 0) + 1
        for call in each:
            call(optimizer, step)

    around_steps(lambda _: None, updated.add, after)
    _count_scaled_steps(updated, after)


# In the order of first comparisons, which the ranks of a process set share; how many are still alive, or are
# of other sets, they do not.
_PLACES: WeakKeyDictionary[Optimizer, int] = WeakKeyDictionary()
_NUMBERS: Counter[tuple[int, ...]] = Counter()


def compare_after(steps: frozenset[int]) -> OfStep:
    """What compares the ranks after these steps of each optimizer."""

    def after(optimizer: Optimizer, step: int) -> None:
        if step in steps:
            _compare(optimizer, step)

    return after


def _compare(optimizer: Optimizer, step: int) -> None:
    """Raises OutOfSyncError on all ranks where they differ; says so where there is one rank alone."""
    import horovod.torch as hvd

    if optimizer not in _PLACES:
        ranks = tuple(getattr(getattr(optimizer, "process_set", None), "ranks", None) or ())
        _PLACES[optimizer] = _NUMBERS[ranks]
        _NUMBERS[ranks] += 1
    if not hvd.is_initialized():
        return
    if hvd.size() == 1:
        if step == 1:
            print("hvdkit: check_sync: one rank, nothing to compare", file=sys.stderr)
        return
    from hvdkit.torch.sync import compare_optimizer

    teller, notes = compare_optimizer(optimizer, f"step {step} of optimizer {_PLACES[optimizer]}")
    if hvd.rank() == teller:
        for note in notes:
            print(f"hvdkit: check_sync: {note}", file=sys.stderr)


def _count_scaled_steps(updated: WeakSet[Optimizer], after: Callable[[Optimizer], None]) -> None:
    scaled = torch.amp.GradScaler.step

    @functools.wraps(scaled)
    def step(self: torch.amp.GradScaler, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        updated.discard(optimizer)
        with part_of_a_step():
            result = scaled(self, optimizer, *args, **kwargs)
        if optimizer not in updated:
            HISTORY.skipped += 1
        after(optimizer)
        return result

    torch.amp.GradScaler.step = step  # type: ignore[method-assign]


def _schedulers() -> Iterable[type]:
    """torch's schedulers. One of the script's own calls these, or is not noted."""
    module = torch.optim.lr_scheduler
    return [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]


def _note_calls(kind: type, method: str, what: str) -> None:
    """Note each call of a method where this class itself defines it."""
    original = vars(kind).get(method)
    if original is None:
        return

    @functools.wraps(original)
    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not inside_a_step():
            HISTORY.note(what)
        return original(self, *args, **kwargs)

    setattr(kind, method, noted)


def _note_clipping(name: str, optimizers: Iterable[Optimizer]) -> None:
    clip = getattr(torch.nn.utils, name)

    @functools.wraps(clip)
    def noted(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        pending = {id(p) for optimizer in optimizers for p in _being_reduced(optimizer)}
        if pending & {id(parameter) for parameter in given}:
            HISTORY.note("clip")
        return clip(given, *args, **kwargs)

    setattr(torch.nn.utils, name, noted)
    setattr(torch.nn.utils.clip_grad, name, noted)


def _being_reduced(optimizer: Optimizer) -> Iterable[torch.Tensor]:
    for key in getattr(optimizer, "_handles", {}):
        yield from key if isinstance(key, tuple) else (key,)


def _all_optimizers() -> WeakSet[Optimizer]:
    """Every optimizer of the process, as they are made."""
    made: WeakSet[Optimizer] = WeakSet()
    create = Optimizer.__init__

    @functools.wraps(create)
    def init(self: Optimizer, *args: Any, **kwargs: Any) -> None:
        create(self, *args, **kwargs)
        made.add(self)

    Optimizer.__init__ = init  # type: ignore[method-assign]
    return made
