"""Numbers that ranks find on shares of an evaluation, each with the running statistics of its own batches.

One process has one set of statistics, and DistributedDataParallel sends the first rank's to all. Horovod does
neither, so that numbers differ a little, by no fault of the reduction: that is measured, not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hvdkit.observe.records import Run
from hvdkit.verify.differences import Difference
from hvdkit.verify.evaluations import by_own_statistics
from hvdkit.verify.invariant import Unchecked
from hvdkit.verify.twins.numbers import Scales

CLOSE = 0.1  # by how much such a number may differ, relatively


def differences_apart_from(
    find: Callable[[Scales], list[Difference]], job: Run, scales: Scales
) -> tuple[list[Difference], tuple[Unchecked, ...]]:
    """What differs in what is printed, saved and decided; and what such statistics may explain. find: at the
    scales given."""
    found = find(scales)
    if not found or not by_own_statistics(job):
        return found, ()
    first = found[0]
    found = find(replace(scales, close=CLOSE))
    return found, () if found else (_unchecked(first),)


def _unchecked(first: Difference) -> Unchecked:
    where = f" ({first.places[1]})" if first.places[1] else ""
    return Unchecked(
        "what ranks evaluate on shares",
        "each normalises its share by its own running statistics, where the original has the first rank's: "
        f"{first.original!r} there, {first.migrated!r} here{where}",
    )
