"""Metrics by which callbacks decide: a rank that goes by its own ends, or lowers its rate, on its own."""

from __future__ import annotations

import math
from collections.abc import Iterator

from hvdkit.observe.records import DECIDES, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Invariant


def check_decisions(run: Run, cause: Cause) -> Iterator[Invariant]:
    """Reported where several ranks decide by a metric; what they print, and save on one rank, is not."""
    seen = [_decisions(run, rank) for rank in run.steps]
    shared = seen[0].keys() & set().union(*seen[1:])
    if not shared:
        return
    apart = sorted(
        (place, name)
        for name, place in shared
        for other in seen[1:]
        if (name, place) in other and not math.isclose(seen[0][name, place], other[name, place], rel_tol=1e-6)
    )
    names = ", ".join(sorted({name for name, _ in shared}))
    detail = names
    if apart:
        place, name = apart[0]
        values = ", ".join(f"{each[name, place]:.6g}" for each in seen if (name, place) in each)
        detail = f"{name} is {values} on the ranks, epoch {place}"
    yield Invariant("ranks decide by the same metrics", not apart, detail, cause)


def _decisions(run: Run, rank: int) -> dict[tuple[str, int], float]:
    """The number that a callback goes by, by "CALLBACK METRIC" and epoch."""
    events = (event for step in run.steps[rank] for event in step.events if event.what == DECIDES)
    split = (event.detail.rsplit(" ", 2) for event in events)
    return {(name, int(epoch)): float(value) for name, epoch, value in split}
