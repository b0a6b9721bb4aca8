"""Calls whose place among others decides whether a Horovod program is right.

Clipping or unscaling while a reduction is under way races with it, and often gives the right numbers in a
test; loading a checkpoint after the broadcast leaves the other ranks without it.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from hvdkit.observe.names import optimizer_parameters
from hvdkit.observe.records import CLIPPED, HOOKS_LOST, Event
from hvdkit.verify.hook.beginning import mark_begun
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.recorder import Recorder

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")


def watch_order(recorder: Recorder) -> None:
    """Note clipping and unscaling of gradients that are not reduced yet, and states that are loaded."""
    _watch_creation(recorder)
    for name in CLIPS:
        if hasattr(torch.nn.utils, name):
            _watch_clip(recorder, name)
    _watch_unscale(recorder)
    _watch_load(recorder)


def _watch_creation(recorder: Recorder) -> None:
    """Know every optimizer of the process as it is made."""
    create = torch.optim.Optimizer.__init__

    @functools.wraps(create)
    def init(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
        create(self, *args, **kwargs)
        recorder.made.add(self)
        for parameter in optimizer_parameters(self)[:1]:
            recorder.made_at.setdefault(id(parameter), place_of())
        recorder.own.watch(self)
        mark_begun(recorder.settings)

    torch.optim.Optimizer.__init__ = init  # type: ignore[method-assign]


def _unreduced(optimizer: torch.optim.Optimizer) -> set[int]:
    """Ids of the parameters whose reduction Horovod has begun and nobody has waited for."""
    pending = getattr(optimizer, "_handles", {})
    return {id(p) for key in pending for p in (key if isinstance(key, tuple) else (key,))}


def note_lost_hooks(recorder: Recorder, optimizer: torch.optim.Optimizer) -> None:
    """Horovod's optimizer hears of a gradient by a hook on the node that accumulates it. A parameter whose
    data become another device's or type's gets a new node, as `Tensor.data`'s setter has it
    (torch/csrc/autograd/variable.cpp, VariableHooks::set_data): from then on its gradient is reduced inside
    step(), when backward() is over."""
    nodes = {id(node) for node in getattr(optimizer, "_grad_accs", ())}
    if not nodes:
        return
    with torch.enable_grad():
        lost = sum(
            id(parameter.expand_as(parameter).grad_fn.next_functions[0][0]) not in nodes
            for parameter in getattr(optimizer, "_requires_update", ())
            if parameter.requires_grad
        )
    if lost:
        recorder.note_once(HOOKS_LOST, f"parameters without a hook: {lost}")


def _watch_clip(recorder: Recorder, name: str) -> None:
    clip = getattr(torch.nn.utils, name)

    @functools.wraps(clip)
    def watched(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        pending = set().union(*map(_unreduced, recorder.made))
        if pending & {id(parameter) for parameter in given}:
            recorder.events.append(Event("clip before synchronize", name))
        recorder.own.note_reduced(given)
        result = clip(given, *args, **kwargs)
        if isinstance(result, torch.Tensor):
            recorder.events.append(Event(CLIPPED, repr(float(result))))
        return result

    setattr(torch.nn.utils, name, watched)
    setattr(torch.nn.utils.clip_grad, name, watched)


def _watch_unscale(recorder: Recorder) -> None:
    unscale = torch.amp.GradScaler.unscale_

    @functools.wraps(unscale)
    def watched(self: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
        if self.is_enabled() and _unreduced(optimizer):
            recorder.events.append(Event("unscale before synchronize", type(optimizer).__name__))
        recorder.own.note_reduced(optimizer_parameters(optimizer))
        unscale(self, optimizer)

    torch.amp.GradScaler.unscale_ = watched  # type: ignore[method-assign]


def _watch_load(recorder: Recorder) -> None:
    load = torch.nn.Module.load_state_dict

    @functools.wraps(load)
    def watched(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        recorder.events.append(Event("load", type(self).__name__))
        return load(self, *args, **kwargs)

    torch.nn.Module.load_state_dict = watched  # type: ignore[method-assign]
