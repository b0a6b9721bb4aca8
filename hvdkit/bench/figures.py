"""What measured jobs say of a step: where its time is, which rank is late, how it scales."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hvdkit.bench.blocks import Spread, spread
from hvdkit.bench.recorded import Recorded
from hvdkit.doctor.allreduce import bus_bandwidth

_MOSTLY = 0.6  # of the steps: how often one rank has to be last before it is named
_LATE = 0.02  # of a step: how far behind the others, at least

Block = Mapping[str, Recorded]  # by kind of job


@dataclass(frozen=True)
class Parts:
    """Where the time of a step is, in seconds; the three add up to the mean step of one moment.

    computing: of a rank, the mean. waiting: for the last rank to have its gradients, the mean. communicating:
    what the last rank itself waits for averages, when no rank is waited for.
    """

    computing: float
    waiting: float
    communicating: float


@dataclass(frozen=True)
class Late:
    """The rank that the others wait for. often: share of the steps in which it is the last. behind: seconds
    after the next to last, the median over those steps.
    """

    rank: int
    host: str
    often: float
    behind: float


@dataclass(frozen=True)
class Step:
    """Of one job: seconds. median, and the 5th and 95th percentile over the steps."""

    median: float
    low: float
    high: float


def durations(recorded: Recorded) -> list[float]:
    """Seconds of each step, the mean over the ranks, which step together."""
    return [
        statistics.fmean(one + other for one, other in zip(computed, waited))
        for computed, waited in zip(zip(*recorded.computed), zip(*recorded.waited))
    ]


def step_of(recorded: Recorded) -> Step:
    """The median step, and how far steps are apart."""
    found = durations(recorded)
    twentieths = statistics.quantiles(found, n=20, method="inclusive") if len(found) > 1 else found * 19
    return Step(statistics.median(found), twentieths[0], twentieths[-1])


def rate(recorded: Recorded) -> float:
    """Samples per second of all ranks together; steps of a rank per second where samples are not known."""
    return (recorded.samples or 1) * recorded.ranks / step_of(recorded).median


def parts_of(recorded: Recorded) -> Parts:
    """Medians over the steps. No clocks are compared: ranks have their averages at one moment, so that the
    rank which waits least for them has come last, and the others have waited for it by the difference.
    """
    least = [min(waited) for waited in zip(*recorded.waited)]
    waiting = [statistics.fmean(waited) - least[at] for at, waited in enumerate(zip(*recorded.waited))]
    computing = [statistics.fmean(computed) for computed in zip(*recorded.computed)]
    return Parts(*map(statistics.median, (computing, waiting, least)))


def late(recorded: Recorded) -> Late | None:
    """The rank that is last in most steps; None where none is, or it is hardly behind."""
    steps = [sorted((wait, rank) for rank, wait in enumerate(waited)) for waited in zip(*recorded.waited)]
    if recorded.ranks < 2:
        return None
    ((rank, times),) = Counter(step[0][1] for step in steps).most_common(1)
    behind = statistics.median(step[1][0] - step[0][0] for step in steps if step[0][1] == rank)
    if times < _MOSTLY * len(steps) or behind < _LATE * step_of(recorded).median:
        return None
    return Late(rank, recorded.hosts[rank], times / len(steps), behind)


def overlap(recorded: Recorded) -> float | None:
    """Share of the exchange that is hidden behind the backward pass; None where nothing is exchanged.

    The exchange is as long as that of all gradients alone; not hidden is what a step spends communicating.
    """
    if not recorded.alone:
        return None
    return max(0.0, 1 - parts_of(recorded).communicating / recorded.alone)


def bandwidth(recorded: Recorded) -> float | None:
    """Bytes per second of bus bandwidth of the exchange of all gradients alone; None where there is none."""
    return bus_bandwidth(recorded.size, recorded.ranks, recorded.alone) if recorded.alone else None


def efficiency(blocks: Sequence[Block]) -> Spread:
    """Samples per second of a rank beside others, over those of one rank alone: what Horovod's paper calls
    scaling efficiency (https://arxiv.org/abs/1802.05799).
    """
    return spread([rate(block["horovod"]) / block["horovod"].ranks / rate(block["one"]) for block in blocks])


def ratio(blocks: Sequence[Block], one: str, other: str) -> Spread:
    """Of the median steps of two kinds of job."""
    return spread([step_of(block[one]).median / step_of(block[other]).median for block in blocks])


def middle(blocks: Sequence[Block], kind: str, figure: Callable[[Recorded], float]) -> float:
    """The median over the blocks of a figure of one kind of job."""
    return statistics.median(figure(block[kind]) for block in blocks)
