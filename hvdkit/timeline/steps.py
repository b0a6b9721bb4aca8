"""The training steps of a timeline: when each rank had its gradients, and when they were exchanged."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.timeline.events import Operation, Timeline

WARM_UP = 2  # steps that are left out where there are enough: libraries are loaded, buffers made
LEAST = 3  # steps
_TOGETHER = 1e-4  # seconds between tensors of one fused exchange
_AT_ONCE = 1e-3  # seconds between gradients that one cycle of Horovod's takes together
_ALONE = 0.8  # of the steps: a collective that nothing else is under way beside


@dataclass(frozen=True)
class Step:
    """One step; times in seconds.

    duration: to the start of the next. first, last: by rank, when it requested its first and its last
    average; without ranks in the timeline, those of rank 0, as 0. gradients, blocking: the collectives that
    are under way beside others, and those that stand alone.
    """

    duration: float
    first: dict[int, float]
    last: dict[int, float]
    gradients: tuple[Operation, ...]
    blocking: tuple[Operation, ...]

    @property
    def exchanging(self) -> float:
        """How long gradients were exchanged."""
        return _covered((each.sent, each.received) for each in self.gradients)

    @property
    def hidden(self) -> float:
        """How much of that was while a rank still had gradients to request."""
        until = max(self.last.values())
        return _covered((each.sent, min(each.received, until)) for each in self.gradients)

    @property
    def waited(self) -> float:
        """How long collectives that stand alone took, from the first rank that requested one."""
        return _covered((each.asked, each.end) for each in self.blocking)

    @property
    def size(self) -> int:
        """Bytes of the gradients."""
        return sum(each.size for each in self.gradients)

    @property
    def exchanges(self) -> tuple[tuple[float, int], ...]:
        """Seconds and bytes of each exchange: tensors that are fused go together."""
        sent = sorted((each for each in self.gradients if each.sent), key=lambda each: each.sent)
        found: list[list[Operation]] = []
        for each in sent:
            if found and each.sent - found[-1][-1].sent <= _TOGETHER:
                found[-1].append(each)
            else:
                found.append([each])
        return tuple(
            (max(op.received for op in group) - group[0].sent, sum(op.size for op in group))
            for group in found
        )

    @property
    def arrivals(self) -> int:
        """How many times gradients were ready on all ranks, those of one cycle counted once."""
        ready = sorted(max(each.ready.values(), default=each.asked) for each in self.gradients)
        return bool(ready) + sum(after - before > _AT_ONCE for before, after in zip(ready, ready[1:]))

    def late(self) -> tuple[int, float, float]:
        """The rank that had its last gradient last; how long after the others, and how much of that was so at
        its first already."""
        if len(self.last) < 2:
            return next(iter(self.last)), 0.0, 0.0
        *_, second, rank = sorted(self.last, key=lambda each: self.last[each])
        behind = self.last[rank] - self.last[second]
        begun = self.first[rank] - max(at for other, at in self.first.items() if other != rank)
        return rank, behind, min(max(begun, 0.0), behind)


def steps_of(timeline: Timeline) -> tuple[Step, ...]:
    """Those that are whole, without the warm-up. Empty where nothing is reduced again and again."""
    occurring: dict[str, list[Operation]] = defaultdict(list)
    for operation in timeline.operations:
        if operation.kind != "BROADCAST":  # of the start
            occurring[operation.tensor].append(operation)
    counts = Counter(len(found) for found in occurring.values() if len(found) >= LEAST)
    if not counts:
        return ()
    usual = max(counts, key=lambda count: (counts[count] * count, count))
    each_step = {name: found for name, found in occurring.items() if abs(len(found) - usual) <= 1}
    alone = _alone(each_step)
    if len(alone) == len(each_step):
        alone = set()
    number = min(len(found) for found in each_step.values())
    rounds = [
        (
            tuple(found[i] for name, found in each_step.items() if name not in alone),
            tuple(found[i] for name, found in each_step.items() if name in alone),
        )
        for i in range(number)
    ]
    begun = [min(each.asked for each in gradients) for gradients, _ in rounds]
    steps = [
        Step(after - at, *_by_rank(gradients), gradients, blocking)
        for at, after, (gradients, blocking) in zip(begun, begun[1:], rounds)
        if after > at
    ]
    return tuple(steps[WARM_UP:] if len(steps) >= WARM_UP + LEAST else steps)


def median(values: Iterable[float]) -> float:
    """Of some values; 0.0 of none."""
    found = list(values)
    return statistics.median(found) if found else 0.0


def _by_rank(gradients: Sequence[Operation]) -> tuple[dict[int, float], dict[int, float]]:
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    for each in gradients:
        for rank, at in (each.ready or {0: each.asked}).items():
            first[rank] = min(first.get(rank, at), at)
            last[rank] = max(last.get(rank, at), at)
    return first, last


def _alone(each_step: dict[str, list[Operation]]) -> set[str]:
    """The tensors beside whose collectives no other is under way."""
    every = sorted((op for found in each_step.values() for op in found), key=lambda each: each.asked)
    by_itself: Counter[str] = Counter()
    until = float("-inf")
    for at, each in enumerate(every):
        following = every[at + 1].asked if at + 1 < len(every) else float("inf")
        if until <= each.asked and each.end <= following:
            by_itself[each.tensor] += 1
        until = max(until, each.end)
    return {name for name, found in each_step.items() if by_itself[name] >= _ALONE * len(found)}


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of a union of intervals."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        if end > max(begin, until):
            total += end - max(begin, until)
            until = end
    return total
