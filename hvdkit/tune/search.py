"""Successive halving: settings are measured in turns, the slower half is dropped, and noise ends it.

Jamieson and Talwalkar, https://arxiv.org/abs/1502.07943, with the median ratio to a reference for the loss:
the reference is measured in every block, so that each ratio is of jobs that ran one after another.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hvdkit.bench.blocks import Spread, spread
from hvdkit.launch.tuned import Setting

GAIN = 0.02  # of a step: less is not worth a setting
_LEAST, _MOST = 4, 6  # blocks of the last that is left; more where its quartiles do not decide

# Steps of a job in the first block, in which some settings are many times slower, and at most.
_FIRST_STEPS, _STEPS = 15, 60
_CLOSE = 1.2  # times the best of the first block


@dataclass(frozen=True)
class Candidate:
    """A setting, and how it is shown."""

    name: str
    setting: Setting


@dataclass(frozen=True)
class Tried:
    """A candidate's ratio of step times to the reference, and in how many blocks it was taken."""

    candidate: Candidate
    ratio: Spread
    blocks: int

    @property
    def gains(self) -> bool:
        """Its upper quartile is below the reference, and its median by as much as counts."""
        return self.blocks >= _LEAST and self.ratio.high < 1 and self.ratio.middle <= 1 - GAIN


def halving(
    reference: Candidate,
    others: Sequence[Candidate],
    measure: Callable[[Candidate, int], float],
    until: float,
) -> list[Tried]:
    """All candidates that were measured, the last that was left first.

    measure: seconds of a step, by so many steps; infinite where the job fails. until: time.monotonic() after
    which no job is begun. Ends early where the best that is left is not better than the reference by more
    than the noise.
    """
    ratios: dict[str, list[float]] = {other.name: [] for other in others}
    left: list[Candidate] = [*others]
    dropped: list[Candidate] = []
    number = 0
    while left and not _decided(left, ratios):
        block = [reference, *left]
        at = number % len(block)
        seconds: dict[str, float] = {}
        for each in block[at:] + block[:at]:
            if time.monotonic() < until:
                seconds[each.name] = measure(each, min(_STEPS, _FIRST_STEPS << number))
        if reference.name in seconds:
            for other in left:
                if other.name in seconds:
                    ratios[other.name].append(seconds[other.name] / seconds[reference.name])
        if len(seconds) < len(block):
            break
        number += 1
        left.sort(key=lambda each: statistics.median(ratios[each.name]))
        kept = math.ceil(len(left) / 2)
        if number == 1:  # one short job each: what is close may be the faster one
            closest = _CLOSE * statistics.median(ratios[left[0].name])
            kept = max(kept, sum(statistics.median(ratios[each.name]) <= closest for each in left))
        dropped = left[kept:] + dropped
        left = left[:kept]
    return [
        Tried(each, spread(ratios[each.name]), len(ratios[each.name]))
        for each in [*left, *dropped]
        if ratios[each.name]
    ]


def _decided(left: Sequence[Candidate], ratios: dict[str, list[float]]) -> bool:
    """Whether more blocks would change nothing: one is left and known well, or no one is better at all."""
    best = ratios[left[0].name]
    if len(best) >= 2 and statistics.median(best) > 1 - GAIN:
        return True
    if len(left) > 1 or len(best) < _LEAST:
        return False
    return spread(best).high < 1 or len(best) >= _MOST
