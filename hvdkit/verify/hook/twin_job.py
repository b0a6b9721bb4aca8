"""Keeps, in each rank of a job, what a twin of the original needs: batches, random states, seeds, and when
gradients are averaged."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

import torch

from hvdkit.verify.hook.recorder import Recorder, process_rank
from hvdkit.verify.hook.twin_optimizers import Orders, after_backward, after_construction, around_outermost
from hvdkit.verify.hook.twin_record import (
    Averaged,
    Backward,
    Begun,
    Constructed,
    Ended,
    Fetched,
    Seeded,
    Stepped,
    Trained,
    Writer,
)
from hvdkit.verify.hook.twin_seeds import watch_seeds
from hvdkit.verify.hook.twin_states import states

_kept: Kept | None = None


class Kept:
    """The record of this process for its twin."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.writer = Writer(recorder.settings.path)
        self.process = os.getpid()
        self.orders = Orders()
        self.passes = 0
        self.fetched: dict[int, int] = {}  # batches since the last backward(), by pass
        self.last = -1  # the pass that gave the last batch
        self.trained: set[int] = set()
        self.rates: tuple[float, ...] = ()
        self.is_fresh = False  # an optimizer is constructed, and nothing was fetched since

    def constructed(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is constructed: its number is its place among all."""
        met = len(self.orders.known)
        if self.orders.of(optimizer) == met:
            self.is_fresh = True
            self.put(Constructed(states()))

    def seeds(self, _: int, library: str, argument: Any) -> Any:
        """The script seeds a generator with this."""
        self.put(Seeded(library, argument))
        return argument

    def seeded(self) -> None:
        """The script has seeded: a job may give each rank a seed of its own once its weights are sent."""
        if self.is_fresh:
            self.put(Constructed(states(), again=True))

    def put(self, moment: object) -> None:
        """Write one moment; a loader's worker is not the rank."""
        if os.getpid() == self.process:
            self.writer.put(process_rank(), moment)

    def begin(self, begun: Begun) -> int:
        """A pass over a loader is about to begin; gives its number."""
        self.put(begun)
        self.passes += 1
        return self.passes - 1

    def fetch(self, number: int, batch: Any) -> None:
        """A pass has returned a batch."""
        self.is_fresh = False
        self.put(Fetched(number, batch, states()))
        if torch.is_grad_enabled():  # else it is for an evaluation
            self.fetched[number] = self.fetched.get(number, 0) + 1
            self.last = number

    def end(self, number: int) -> None:
        """A pass has ended."""
        self.put(Ended(number, states()))
        self.fetched.pop(number, None)

    def backward(self) -> None:
        """The script has called backward()."""
        self.is_fresh = False
        for number, batches in self.fetched.items():
            # Several batches and no backward() between them are an evaluation that was left early.
            if number not in self.trained and (batches == 1 or number == self.last):
                self.trained.add(number)
                self.put(Trained(number))
        self.fetched.clear()
        self.put(Backward())

    def averaged(self, optimizer: torch.optim.Optimizer) -> None:
        """The gradients of an optimizer are about to be complete."""
        self.put(Averaged(self.orders.of(optimizer)))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """A step begins."""
        self.averaged(optimizer)
        self.rates = tuple(float(group.get("lr", 0.0)) for group in optimizer.param_groups)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        """A step is complete."""
        self.put(Stepped(self.orders.of(optimizer), self.rates, states()))


def keep_for_twins(recorder: Recorder) -> Kept:
    """Keep from here on what this process's twin needs; before the watchers of steps, which end it."""
    global _kept
    kept = _kept = Kept(recorder)
    watch_seeds(kept.seeds, kept.seeded)
    after_construction(kept.constructed)
    after_backward(kept.backward)
    around_outermost(kept.before_step, kept.after_step)
    return kept


def watch_horovod_averages() -> None:
    """Note that Horovod's optimizer has waited for its gradients, which may be long before its step."""
    module: Any = sys.modules["horovod.torch.optimizer"]
    synchronize = module._DistributedOptimizer.synchronize

    @functools.wraps(synchronize)
    def watched(self: torch.optim.Optimizer) -> None:
        synchronize(self)
        if _kept is not None:
            _kept.averaged(self)

    module._DistributedOptimizer.synchronize = watched
