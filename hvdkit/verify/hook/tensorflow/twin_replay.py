"""A twin: one of N processes of a single-process original. See hook.twin_replay, which is torch's.

Here the mean comes where the script takes the gradient of variables: before it clips, unscales or adds up.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from hvdkit.observe.records import ROUNDED, Event
from hvdkit.observe.tensorflow.arrays import array_of
from hvdkit.observe.tensorflow.optimizers import AtRate, rate_of
from hvdkit.verify.hook.ending import end_process
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.hook.tensorflow.twin_averages import as_used, averaged
from hvdkit.verify.hook.tensorflow.twin_job import Pairs
from hvdkit.verify.hook.tensorflow.twin_states import restore
from hvdkit.verify.hook.tensorflow.variables import all_variables
from hvdkit.verify.hook.twin_peers import Peers
from hvdkit.verify.hook.twin_rates import Scale
from hvdkit.verify.hook.twin_record import BEYOND, Fetched, Given, OfRank

CLOSE = 3e-7  # rates are float32


class Replay:
    """What this process is given."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.peers = Peers(settings.path, settings.world)
        folder = Path(settings.twins)
        self.rank = OfRank(folder, self.peers.rank)
        self.first = self.rank if not self.peers.rank else OfRank(folder, 0, batches=False)
        self.scale = Scale(settings.path, settings.world, not self.peers.rank, CLOSE)
        self.begun: dict[tuple[int, int], int] = {}
        self.fits = 0
        self.steps = 0
        self.entered = False
        if self.rank.lost:
            self.peers.part(self.rank.lost)

    # -- data -----------------------------------------------------------------------------------

    def begin(self, loader: int, epoch: int) -> Iterator[Fetched] | None:
        """The batches of a pass that begins; None where the original draws its own: it does not train."""
        place = self.begun[loader, epoch] = self.begun.get((loader, epoch), -1) + 1
        theirs = [one for one in self.first.passes if (one.begun.loader, one.begun.epoch) == (loader, epoch)]
        if place >= len(theirs) or not theirs[place].trained:
            return None
        before = self.first.trained.index(theirs[place])
        if before >= len(self.rank.trained):
            self.peers.part(f"rank {self.peers.rank} trains in fewer passes over its data than rank 0")
        return self._batches(self.rank.trained[before])

    def _batches(self, given: Given) -> Iterator[Fetched]:
        yield from given.batches
        if given.end is None and self.steps < len(self.rank.steps):
            self.peers.part(
                "the original draws more batches in a pass than a rank of the job, which leaves it"
            )
        if given.end is not None:
            restore(given.end)

    def length(self, own: int) -> int:
        """A rank's share of a data set of so many batches, where the job trains on it; else the same."""
        lengths = {trained: set[int]() for trained in (True, False)}
        for one in self.rank.passes:
            lengths[one.trained].add(len(one.batches) if one.end is not None else one.begun.length)
        share = next((n for n in lengths[True] if n > 0 and -(-own // self.settings.world) == n), 0)
        if not share or own in lengths[False]:
            return own
        self.scale.tell([(own, share)])
        return share

    def steps_of_fit(self, steps: int | None) -> int | None:
        """Those of an epoch, as the job's call of fit found them."""
        self.fits += 1
        return self.rank.fits[self.fits - 1] if self.fits <= len(self.rank.fits) else steps

    # -- training -------------------------------------------------------------------------------

    def enter(self) -> None:
        """A tape begins. Before the first one all have the first one's variables, where the job's ranks have
        sent them by then."""
        if not self.entered:
            self.entered = True
            if not self.rank.sends or 0 in self.rank.sends:
                self._follow()

    def gradient(self, gradients: Any) -> Any:
        """The means of the gradients of variables."""
        return averaged(self.peers, gradients)

    def before_update(
        self, optimizer: Any, order: int, pairs: Pairs, events: list[Event]
    ) -> tuple[Pairs, AtRate]:
        """The gradients to use, and the rate to step at until it is put back."""
        if self.steps == len(self.rank.steps):
            self._beyond()
        job = self.rank.steps[self.steps]
        if job.optimizer != order:
            self.peers.part(f"step {self.steps + 1} is of another optimizer in the original than in the job")
        apart = (
            as_used([array_of(gradient) for gradient, _ in pairs], job.gradients) if job.gradients else None
        )
        if apart is not None:
            pairs = [(tf.constant(used), variable) for used, (_, variable) in zip(job.gradients, pairs)]
            if apart:
                events.append(Event(ROUNDED, repr(apart)))
        at = AtRate(optimizer)
        if not at.can_be_set:
            self.peers.part(f"the rate of {type(optimizer).__name__} cannot be set for one step")
        own = {pace: rate_of(optimizer, pace) for pace in (1, self.settings.world)}
        at.set(self.scale.rate_for(own, job.rates[0]))
        return pairs, at

    def after_update(self, at: AtRate) -> None:
        """Give the original its own rate back, and its rank's random state."""
        at.put_back()
        restore(self.rank.steps[self.steps].states)
        self.steps += 1
        if self.steps in self.rank.sends:
            self._follow()

    def _follow(self) -> None:
        """Give every twin the first one's variables."""
        held = all_variables()
        seen = self.peers.gather("its variables", [tuple(variable.shape) for variable in held])
        if any(shapes != seen[0] for shapes in seen):
            self.peers.part("twins hold different variables")
        values = None if self.peers.rank else [array_of(variable) for variable in held]
        for variable, value in zip(held, self.peers.gather("the first one's values", values)[0]):
            variable.assign(value)

    def _beyond(self) -> None:
        """The job has ended, and the original continues."""
        (self.settings.path / BEYOND).write_text(place_of(), encoding="utf-8")
        end_process(self.settings, [self.peers.rank])
