"""A twin: one of N processes of a single-process original, which together do what the ranks of a job did.

It is given the batches and random states of its rank, and its gradients are averaged with the others' when
the job averages. All else is the original's own: what it computes, when it steps, what it prints and saves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from hvdkit.observe.names import optimizer_parameters
from hvdkit.observe.records import GIVEN
from hvdkit.verify.hook.ending import end_process
from hvdkit.verify.hook.places import place_of
from hvdkit.verify.hook.recorder import Recorder
from hvdkit.verify.hook.twin_averages import average
from hvdkit.verify.hook.twin_optimizers import Orders, after_backward, after_construction, around_outermost
from hvdkit.verify.hook.twin_peers import Peers
from hvdkit.verify.hook.twin_rates import Scale
from hvdkit.verify.hook.twin_record import BEYOND, Given, OfRank
from hvdkit.verify.hook.twin_seeds import watch_seeds
from hvdkit.verify.hook.twin_states import restore
from hvdkit.verify.hook.twin_tensors import pack, unpack
from hvdkit.verify.hook.twin_weights import Statistics, follow


class Replay:
    """What this process is given."""

    def __init__(self, recorder: Recorder, peers: Peers) -> None:
        self.recorder, self.peers = recorder, peers
        folder = Path(recorder.settings.twins)
        self.rank = OfRank(folder, peers.rank)
        self.first = self.rank if not peers.rank else OfRank(folder, 0, batches=False)
        self.process = os.getpid()
        self.orders = Orders()
        self.backwards = 0
        self.steps = 0
        self.scale = Scale(recorder.settings.path, recorder.settings.world, tells=not peers.rank)
        self.own_rates: list[Any] = []
        peers.is_complete = lambda: self.steps == len(self.rank.steps)
        self.statistics = Statistics(peers)
        if self.rank.lost:
            peers.part(self.rank.lost)

    # -- loaders --------------------------------------------------------------------------------

    def length(self, data: tuple[str, int], shuffles: bool) -> int:
        """Of the job's passes over the loader that has these data; -1 where it does not train on them."""
        trained = self.rank.trained
        fits = [one for one in trained if one.begun.data == data]
        others = [one for one in self.first.passes if one.begun.data == data and not one.trained]
        if fits and (shuffles or not others):
            return fits[0].begun.length
        if fits or others or not shuffles or len({one.begun.loader for one in trained}) != 1:
            return -1
        return trained[0].begun.length  # each rank has a data set of its own

    def begin(self, loader: int, epoch: int, samples: int) -> Iterator[Any] | None:
        """The batches of a pass that begins over so many samples; None where the original draws its own: it
        does not train on them."""
        theirs = self.first.passes
        here = [at for at, one in enumerate(theirs) if (one.begun.loader, one.begun.epoch) == (loader, epoch)]
        if not here or not theirs[here[0]].trained:
            self.statistics.take_first()
            if here:
                restore(theirs[here[0]].begun.states)
            return None
        before = sum(one.trained for one in theirs[: here[0]])
        trained = self.rank.trained
        if before >= len(trained):
            self.peers.part(f"rank {self.peers.rank} trains in fewer passes over its loaders than rank 0")
        follow(self.peers, self._trained())
        self.scale.tell([(samples, trained[before].begun.samples)])
        return self._batches(trained[before])

    def _batches(self, given: Given) -> Iterator[Any]:
        for fetched in given.batches:
            self.statistics.give_back()
            restore(fetched.states)
            self.recorder.note_once(GIVEN)
            yield fetched.batch
        if given.end is not None:
            restore(given.end)

    # -- optimizers -----------------------------------------------------------------------------

    def construct(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is constructed: from here on all twins have the first one's weights, and each has the
        random state of its rank, which may have been given a seed of its own by then."""
        met = len(self.orders.known)
        order = self.orders.of(optimizer)
        follow(self.peers, optimizer_parameters(optimizer), everything=True)
        if order == met and order < len(self.rank.constructed):
            restore(self.rank.constructed[order])

    def _trained(self) -> list[torch.Tensor]:
        return [tensor for made in self.orders.latest for tensor in optimizer_parameters(made)]

    def backward(self) -> None:
        """Average what the job averages before its next backward()."""
        self.backwards += 1
        for order in self.rank.averaged.get(self.backwards, ()):
            if order >= len(self.orders.latest):
                self.peers.part(f"the job has an optimizer, number {order + 1}, that the original has not")
            average(self.peers, order, optimizer_parameters(self.orders.latest[order]))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Step at the job's rates, where they are the original's, or all of them that times one number."""
        order = self.orders.of(optimizer)
        if self.steps == len(self.rank.steps):
            self._beyond()
        if self.rank.steps[self.steps].optimizer != order:
            theirs = self.rank.steps[self.steps].optimizer
            self.peers.part(
                f"step {self.steps + 1} is of optimizer {order + 1} in the original, {theirs + 1} in the job"
            )
        self.own_rates = [group.get("lr") for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, self.rank.steps[self.steps].rates):
            if group.get("lr") is not None:
                self._set_rate(group, rate)

    def _set_rate(self, group: dict[str, Any], rate: float) -> None:
        held = group["lr"]
        value = self.scale.rate_for({1: float(held)}, rate)
        group["lr"] = torch.full_like(held, value) if isinstance(held, torch.Tensor) else value

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Give the original its own rates back, and its rank's random state."""
        for group, rate in zip(optimizer.param_groups, self.own_rates):
            if rate is not None:
                group["lr"] = rate
        restore(self.rank.steps[self.steps].states)
        self.steps += 1

    def _beyond(self) -> None:
        """The job has ended, and the original continues; one process decides that, and it is the first. What
        a later one would decide by its share alone is no matter."""
        if not self.peers.rank:
            (self.recorder.settings.path / BEYOND).write_text(place_of(), encoding="utf-8")
        end_process(self.recorder.settings, [self.peers.rank])

    def seed(self, number: int, library: str, argument: Any) -> Any:
        """The argument with which this rank seeded."""
        given = self.rank.seeds.get(library, [])
        return given[number] if os.getpid() == self.process and number < len(given) else argument


def replay_job(recorder: Recorder) -> Replay:
    """Make this process a twin. After the watchers of steps: they record at the job's rates."""
    replay = Replay(recorder, Peers(recorder.settings.path, recorder.settings.world, pack, unpack))
    watch_seeds(replay.seed)
    after_construction(replay.construct)
    after_backward(replay.backward)
    around_outermost(replay.before_step, replay.after_step)
    return replay
