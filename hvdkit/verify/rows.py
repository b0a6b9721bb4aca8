"""Which samples ranks train on where no loader draws them: by the rows that models are given."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hvdkit.observe.records import GIVEN_ROWS, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Checked, Invariant, Unchecked
from hvdkit.verify.passes import training_loader

NAME = "ranks train on different samples"
ALL = "together they train on all samples"
WHAT = "the ranks' shares of the data"
CHANCE = 1e-3  # at which rows that are drawn with replacement would all be different


def check_rows(original: Run, migrated: Run, cause: Cause) -> Checked:
    """Nothing where a loader gives the batches; else what the first epoch of each rank shows."""
    if training_loader(migrated) >= 0:
        return Checked()
    shares = [[*_first_epoch(_rows(migrated, rank))] for rank in migrated.steps]
    # A rank's second epoch may begin with what another had in the first.
    share = math.ceil(len(set().union(*shares)) / migrated.world)
    shares = [rows[:share] for rows in shares]
    if not all(shares):
        return Checked(
            unchecked=(Unchecked(WHAT, "neither a loader nor a model's input tells samples apart"),)
        )
    shared = len({row for share in shares for row in share if sum(row in other for other in shares) > 1})
    count = len(set().union(*shares))
    detail = f"{shared} of {count} samples of the first epoch are on several ranks, by what models are given"
    if shared < migrated.world:
        return Checked((Invariant(NAME, True, detail), *_complete(original, migrated, cause)))
    if not _is_permuted(original, count):
        reason = f"{detail}; the original draws with replacement, or too little to tell"
        return Checked(unchecked=(Unchecked(WHAT, reason),))
    return Checked((Invariant(NAME, False, detail, cause),))


def _complete(original: Run, migrated: Run, cause: Cause) -> Iterator[Invariant]:
    """Told where all begin a second epoch, and the ranks are given rows of the original's alone."""
    whole, *shares = ([*_rows(run, rank)] for run in (original, migrated) for rank in run.steps)
    epochs = [_first_epoch(iter(rows)) for rows in (whole, *shares)]
    if any(len(epoch) == len(rows) for epoch, rows in zip(epochs, (whole, *shares))):
        return
    drawn, known = set().union(*shares), set(whole)
    if _is_permuted(original, len(known)) and known == set(epochs[0]) and drawn <= known:
        seen = f"{len(known - drawn)} of {len(known)} are left out, by what models are given"
        yield Invariant(ALL, drawn == known, seen, cause)


def _rows(run: Run, rank: int) -> Iterator[str]:
    for step in run.steps[rank]:
        for draw in step.contents:
            if draw.loader == GIVEN_ROWS:
                yield from draw.indices


def _first_epoch(rows: Iterator[str]) -> dict[str, None]:
    """Those before one comes again, in order."""
    seen: dict[str, None] = {}
    for row in rows:
        if row in seen:
            break
        seen[row] = None
    return seen


def _is_permuted(run: Run, known: int) -> bool:
    """Whether so many different rows as come first, out of those that are known, are no matter of chance."""
    drawn = len(_first_epoch(_rows(run, min(run.steps))))
    return drawn > 1 and math.exp(-(drawn**2) / (2 * max(known, drawn))) < CHANCE
