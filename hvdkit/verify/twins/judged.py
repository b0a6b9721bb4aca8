"""Twins of the original and the job compared: all that both compute, print, save and decide by."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hvdkit.observe.records import DECIDES, GIVEN, PLATEAU, RATE_LEFT, ROUNDED, ROUNDING, Run
from hvdkit.verify.compare import Comparison, compare
from hvdkit.verify.differences import Difference, Stage
from hvdkit.verify.hook.twin_record import BEYOND, SCALES
from hvdkit.verify.invariant import Unchecked
from hvdkit.verify.tolerance import Tolerance
from hvdkit.verify.twins.files import Side
from hvdkit.verify.twins.lines import Line
from hvdkit.verify.twins.numbers import Scales, is_wrong
from hvdkit.verify.twins.outputs import output_differences
from hvdkit.verify.twins.own_statistics import differences_apart_from


def compare_twins(
    twins: Run, job: Run, tolerance: Tolerance, alone: Run
) -> tuple[Comparison, tuple[Unchecked, ...]]:
    """Compare rank by rank; and what of the original could not be compared. alone: as one process."""
    scales = scales_of(twins, job)
    sides = [Side(twins, (rank,)) for rank in twins.steps]
    whole = Side(alone, tuple(alone.steps))

    def find(scales: Scales) -> list[Difference]:
        found, _ = output_differences(Side(job, tuple(job.steps)), sides, scales, alone=whole)
        return [*found, *_decisions(twins, job, scales)]

    missing = output_differences(Side(job, tuple(job.steps)), sides, scales, alone=whole)[1]
    found, of_statistics = differences_apart_from(find, job, scales)
    comparison = compare(twins, job, tolerance, [*found, *_beyond(twins, job)], given=True)
    unchecked = (*_unchecked(missing), *_not_decided(twins, job), *of_statistics)
    return _with_rounding(comparison, twins), unchecked


def _with_rounding(comparison: Comparison, twins: Run) -> Comparison:
    """Twins that added in another order took the job's gradients, which were close: no more is shown."""
    events = (event for steps in twins.steps.values() for step in steps for event in step.events)
    apart = max((float(event.detail) for event in events if event.what == ROUNDED), default=0.0)
    if not apart or comparison.differences:
        return comparison
    reason = f"gradients that are sums of several were added in a different order, {apart:.2g} apart"
    allowed = replace(comparison.tolerance, relative=ROUNDING, reason=f"{reason}; all else agrees")
    return replace(comparison, tolerance=allowed, identical=False)


def scales_of(twins: Run, job: Run) -> Scales:
    """By how much the job's rates and shares differ from the original's, as the twins have seen it."""
    path = twins.folder / SCALES
    seen = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    scale = seen.get("rates", 1.0)
    rates = {rate for steps in job.steps.values() for step in steps for rate in step.rates}
    rates |= {
        float(e.detail)
        for steps in job.steps.values()
        for s in steps
        for e in s.events
        if e.what == RATE_LEFT
    }
    pairs = {(rate / scale, rate) for rate in rates} if scale != 1.0 else set()
    return Scales(job.world, frozenset(pairs), frozenset(map(tuple, seen.get("shares", ()))))


def incomparable(comparison: Comparison, twins: Run) -> str:
    """Why a difference says nothing: the batch that led to it was not given; "" where it says something."""
    if comparison.agree:
        return ""
    first = comparison.differences[0]
    if not first.step or first.stage in (Stage.STEPS, Stage.ORDER):
        return ""
    steps = twins.steps.get(first.rank, ())
    step = next((s for s in steps if (s.optimizer, s.number) == (first.optimizer, first.step)), None)
    if step is None or any(event.what == GIVEN for event in step.events):
        return ""
    if first.stage not in (Stage.INPUT, Stage.LOSS, Stage.GRADIENT, Stage.PARAMETER, Stage.BUFFER):
        return ""
    return "no loader gives the batches, so that the original's ranks cannot be given the job's"


def _decisions(twins: Run, job: Run, scales: Scales) -> Iterator[Difference]:
    """What schedulers are given, rank by rank: a number that twins share, or one that the job's ranks do."""
    before, now = ([_given(run, rank) for rank in run.steps] for run in (twins, job))
    for rank, mine in enumerate(now):
        for place, (name, value, at, step) in enumerate(mine):
            theirs = [each[place] for each in before if len(each) > place]
            if len(theirs) < len(before):
                return
            own = [number for _, number, _, _ in theirs]
            if len(set(own)) > 1:  # each rank's own: in the job they must agree on one
                own = [now[0][place][1]] * len(own) if len(now[0]) > place else own
            if is_wrong(value, own, scales):
                told = f"{name} on rank {rank}"
                yield Difference(
                    Stage.DECISION, step, 0, rank, told, own[0], value, places=(theirs[0][2], at)
                )
                return


def _not_decided(twins: Run, job: Run) -> Iterator[Unchecked]:
    """A rank that is given fewer numbers to decide by than the original, and has its rates all the same: they
    may be sent to it, or have not changed yet."""
    for rank in job.steps:
        before, now = (_given(run, rank) for run in (twins, job))
        if len(now) < len(before):
            name, number, place, _ = before[len(now)]
            reason = f"rank {rank} of the job is given no number where the original has {number} ({place})"
            yield Unchecked(f"what {name} decides", reason)
            return


def _given(run: Run, rank: int) -> list[tuple[str, str, str, int]]:
    """What decides, by which number, its place and step, of each."""
    found = []
    for step in run.steps[rank]:
        for event in step.events:
            if event.what == PLATEAU:
                number, _, place = event.detail.partition(" ")
                found.append((f"{PLATEAU}.step", number, place, step.number))
            elif event.what == DECIDES:
                name, number = event.detail.rsplit(" ", 1)
                found.append((name, number, step.place, step.number))
    return found


def _beyond(twins: Run, job: Run) -> Iterator[Difference]:
    """The job has ended where the original takes another step."""
    path = twins.folder / BEYOND
    if path.exists():
        taken = job.taken(min(job.steps))
        place = path.read_text(encoding="utf-8")
        yield Difference(
            Stage.STEPS, taken + 1, 0, 0, "", f"more than {taken}", str(taken), places=(place, "")
        )


def _unchecked(missing: Sequence[Line]) -> Iterator[Unchecked]:
    if missing:
        first = missing[0]
        where = f" ({first.place})" if first.place else ""
        reason = f"rank 0 of the job prints no such line as the original's {first.text.strip()[:80]!r}{where}"
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        yield Unchecked("what is printed", reason + more)
