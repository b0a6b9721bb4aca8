"""A number of the job against what every twin has in its place.

What all twins share has one right value. What twins differ in belongs to a rank (its training loss) or to the
clock, and may come out as one rank's own, or as a reduction of them: whether a mean or a sum is meant, the
original alone tells, which has all samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CLOSE = 2e-4  # relative: sums in a different order, averages of averages


@dataclass(frozen=True)
class Scales:
    """What may differ by a number that is known.

    world: ranks. rates: pairs of a rate of the original and of the job. shares: pairs of a data set's length
    and of a rank's share of it. close: by how much numbers may differ that are the same.
    """

    world: int
    rates: frozenset[tuple[float, float]] = frozenset()
    shares: frozenset[tuple[int, int]] = frozenset()
    close: float = CLOSE


def is_wrong(job: str, twins: Sequence[str], scales: Scales, alone: str = "", is_own: bool = False) -> bool:
    """Whether a number, as written, cannot be what the original makes of these ranks.

    alone: what it makes of all samples as one process, where that is known. is_own: each rank has its own,
    though they may be equal here.
    """
    now, own = float(job), [float(twin) for twin in twins]
    if job == twins[0] or now == own[0]:
        return False
    if len(set(twins)) == 1 and not is_own:
        return not _is(job, twins[0], scales.close) and not _known(job, twins[0], scales)
    # Each rank has its own: no reduction of them divides twice.
    mean = sum(own) / len(own)
    if digits(job) > 2 and any(_near(now, value / scales.world) for value in (own[0], mean)):
        return now != 0
    return digits(job) > 1 and bool(alone) and _is_other_reduction(job, own, float(alone))


def _is_other_reduction(job: str, own: Sequence[float], alone: float) -> bool:
    """Whether it is the ranks' sum, and the original alone makes about their mean, or the other way round."""
    total = sum(own)
    mean = total / len(own)
    is_total, is_mean = (_near(float(job), value) or _written(job, value) for value in (total, mean))
    if is_total == is_mean or total * alone <= 0:
        return False
    taken, other = (total, mean) if is_total else (mean, total)
    # Alone, the original takes other steps and comes to neither; it has to be nearer to the one not printed.
    return 2 * abs(math.log(alone / other)) < abs(math.log(alone / taken))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * abs(other)


def _is(job: str, twin: str, close: float) -> bool:
    """The same, as far as both are written out; whole numbers count something, and are exact."""
    if close == CLOSE and is_whole(job) and is_whole(twin):
        return int(job) == int(twin)
    now, before = float(job), float(twin)
    # The last digit may be rounded to either side; of one or two digits that would be a different number.
    rounding = 1.02 * max(unit(job), unit(twin)) if min(digits(job), digits(twin)) > 2 else 0.0
    return abs(now - before) <= close * max(abs(now), abs(before)) + rounding


def _known(job: str, twin: str, scales: Scales) -> bool:
    """A rate, or the length of a rank's share."""
    if any(_written(twin, before) and _written(job, now) for before, now in scales.rates):
        return True
    return is_whole(job) and is_whole(twin) and (int(twin), int(job)) in scales.shares


def _written(text: str, value: float) -> bool:
    return abs(float(text) - value) <= 0.51 * unit(text)


def is_whole(text: str) -> bool:
    """Written without a fraction or an exponent."""
    return text.lstrip("+-").isdigit()


def unit(text: str) -> float:
    """What the last digit counts."""
    mantissa, _, exponent = text.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def digits(text: str) -> int:
    """Those that are given, from the first that is not 0."""
    mantissa = text.lower().partition("e")[0]
    return len("".join(character for character in mantissa if character.isdigit()).lstrip("0"))
