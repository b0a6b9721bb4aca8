"""How long an epoch of Keras' fit is where its steps are given: each rank's is its share of one process's."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.observe.records import STEPS_OF_EPOCH, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Invariant
from hvdkit.verify.passes import training_loader


def check_steps_of_epoch(original: Run, migrated: Run, cause: Cause) -> Iterator[Invariant]:
    """Reported where both give fit the steps of an epoch: data that repeat have no other end.

    A rank's steps are at most the original's samples of an epoch over those of a step of all ranks, rounded
    up: a batch size that is divided in place of the steps is as right.
    """
    # Of all replicas of a strategy, as of all ranks.
    rows = _rows(original) * original.world, _rows(migrated) * migrated.world
    for before, here in zip(_given(original), _given(migrated)):
        if all(rows):
            share = -(-before * rows[0] // rows[1])
            yield Invariant(
                "an epoch of all ranks has as many samples as the original's",
                here <= share,
                f"{here} steps on each rank, {before} in the original, which makes {share} here",
                cause,
            )


def check_batches(original: Run, migrated: Run, cause: Cause) -> Iterator[Invariant]:
    """Reported where a loader gives the batches: each rank's are as large as the original's, or its share of
    them."""
    before, here = _rows(original) * original.world, _rows(migrated)
    if before and here:
        shares = {before, before // migrated.world, -(-before // migrated.world)}
        seen = f"{here} samples on each rank, {before} in the original"
        yield Invariant("a rank's batch is the original's, or a share of it", here in shares, seen, cause)


def _given(run: Run) -> list[int]:
    """The steps of an epoch of each fit, on the first rank."""
    events = (event for step in run.steps[min(run.steps)] for event in step.events)
    return [int(event.detail) for event in events if event.what == STEPS_OF_EPOCH]


def _rows(run: Run) -> int:
    """Samples in a batch of the loader that trains; 0 for none."""
    loader = training_loader(run)
    draws = (draw for step in run.steps[min(run.steps)] for draw in step.draws if draw.loader == loader)
    return max((len(draw.drawn) for draw in draws), default=0)
