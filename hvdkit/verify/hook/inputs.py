"""What a script trains on and decides by, whatever draws it: what models and schedulers are given."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

from hvdkit.observe.records import GIVEN_ROWS, PLATEAU, Draw, Event
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.samples import rows
from hvdkit.verify.hook.tensors import batch_digest


def watch_inputs(recorder: Recorder) -> None:
    """Note the tensors that the outermost module is given in each forward pass that records gradients."""
    call = torch.nn.Module.__call__
    depth = 0

    @functools.wraps(call)
    def watched(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        if not depth and self.training and torch.is_grad_enabled():
            recorder.inputs.append(batch_digest((args, kwargs)))
            if recorder.loader < 0:
                recorder.contents.append(Draw(GIVEN_ROWS, GIVEN_ROWS, rows((args, kwargs))))
        depth += 1
        try:
            return call(self, *args, **kwargs)
        finally:
            depth -= 1

    torch.nn.Module.__call__ = watched  # type: ignore[method-assign]


def watch_plateaus(recorder: Recorder) -> None:
    """Note the number by which a scheduler lowers the rates."""
    step = ReduceLROnPlateau.step

    @functools.wraps(step)
    def watched(self: Any, metrics: Any, *args: Any, **kwargs: Any) -> None:
        recorder.events.append(Event(PLATEAU, f"{float(metrics)!r} {place_of()}"))
        step(self, metrics, *args, **kwargs)

    ReduceLROnPlateau.step = watched  # type: ignore[method-assign]
