"""The script's own collectives side by side: what the migrated lost, and what gives something else.

A metric that is no longer reduced changes no weight: only its collective is missing. What is reduced into a
parameter, a buffer or a gradient is compared itself, and needs no counterpart: Horovod's optimizer is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from hvdkit.observe.records import Collective, Run
from hvdkit.verify.differences import Difference, Pair, Stage, pairs_of
from hvdkit.verify.printed import numbers_apart

FUSED = 8  # results that may have been sent as one, at most
BROADCAST = "broadcast"


def lost_collectives(original: Run, migrated: Run) -> Iterator[Difference]:
    """One for each place in the original none of whose calls has a counterpart between the same two steps."""
    pairs = pairs_of(original, migrated)
    made: Counter[tuple[str, str]] = Counter()
    without: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[Pair, Collective]] = {}
    for pair in pairs:
        made.update((call.place, call.kind) for call in _own(pair.one.collectives))
        for call in _without_counterpart(pair, original.world):
            without[call.place, call.kind] += 1
            first.setdefault((call.place, call.kind), (pair, call))
    for site, (pair, call) in first.items():
        if without[site] == made[site]:
            norm = "" if math.isnan(call.norm) else f", Euclidean norm {call.norm:.6g}"
            yield pair.differ(Stage.COLLECTIVE, call.place, f"{call.kind}{norm}", "no counterpart")


def _own(calls: tuple[Collective, ...]) -> list[Collective]:
    return [call for call in calls if not call.held]


def _without_counterpart(pair: Pair, world: int) -> list[Collective]:
    """Calls before one step that nothing in the migrated gave the result of, nor could have."""
    left, spare = _own(pair.one.collectives), _own(pair.other.collectives)
    state = any(event.what == BROADCAST for event in pair.other.events)
    if state or any(call.kind == BROADCAST and math.isnan(call.norm) for call in spare):
        left = [call for call in left if call.kind != BROADCAST]  # however many calls a whole state took
    # A sum in one, an average in the other.
    for factors in ((1.0,), (float(world), 1.0 / world)):
        _take(left, spare, factors)
    for other in [*spare]:
        parts = _fused(left, other.norm, (1.0, float(world), 1.0 / world))
        if parts:
            for part in parts:
                left.remove(part)
            spare.remove(other)
    # Another value, or one that is not known: what differs is told as that.
    for same_kind in (True, False):
        for call in [*left]:
            for other in spare:
                either = BROADCAST not in (call.kind, other.kind)
                if call.kind == other.kind or (either and not same_kind):
                    left.remove(call)
                    spare.remove(other)
                    break
    return left


def _take(left: list[Collective], spare: list[Collective], factors: tuple[float, ...]) -> list[float]:
    """Remove the pairs of which one is the other times one of the factors, and give those factors."""
    found = []
    for call in [*left]:
        for other in [*spare]:
            fits = [factor for factor in factors if _close(other.norm, call.norm * factor)]
            if fits:
                left.remove(call)
                spare.remove(other)
                found.append(fits[0])
                break
    return found


def misprinted(original: Run, migrated: Run) -> Iterator[Difference]:
    """A number that is printed or saved the number of ranks too large or too small, where a collective before
    it gave a sum in one run and an average in the other: what follows was not changed with it."""
    for pair in pairs_of(original, migrated):
        left, spare = (
            [call for call in _own(step.collectives) if call.norm] for step in (pair.one, pair.other)
        )
        _take(left, spare, (1.0,))
        world = float(original.world)
        factors = {*_take(left, spare, (world, 1.0 / world))}
        if factors:
            for name, one, other in numbers_apart(pair.one, pair.other, factors):
                yield pair.differ(Stage.PRINTED, name, one, other)
                break


def _fused(left: list[Collective], norm: float, factors: tuple[float, ...]) -> tuple[Collective, ...]:
    """Results that were sent in one tensor of this norm; none where there are no such."""
    for count in range(2, min(len(left), FUSED) + 1):
        for parts in combinations(left[:FUSED], count):
            whole = sum(part.norm**2 for part in parts) ** 0.5
            if any(_close(norm, whole * factor) for factor in factors):
                return parts
    return ()


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-5)


def told(original: Run, migrated: Run) -> Iterator[str]:
    """The first of the script's own collectives that gives something else; a sum and an average may both be
    right, if what follows fits, so this is reported and not judged."""
    for pair in pairs_of(original, migrated):
        for kind in dict.fromkeys(call.kind for call in pair.one.collectives):
            one, other = (
                [call.norm for call in step.collectives if call.kind == kind and not math.isnan(call.norm)]
                for step in (pair.one, pair.other)
            )
            apart = [(a, b) for a, b in zip(one, other) if not _close(a, b)]
            if apart and len(one) == len(other):
                a, b = apart[0]
                averaged = any(_close(b, a * factor) for factor in (original.world, 1 / original.world))
                reason = ": a sum in one and an average in the other" if averaged else ""
                yield (
                    f"the script's own {kind} gave {a:.9g} in the original and {b:.9g} in the migrated "
                    f"(Euclidean norm), before step {pair.one.number}{reason}"
                )
                return
