"""How long a step is on any number of ranks: a model of what Horovod does with the gradients of one.

- A ring allreduce of n bytes among p ranks takes 2 (p - 1) hops, and 2 (p - 1) / p n bytes cross each link
  (Patarasuk and Yuan, https://doi.org/10.1016/j.jpdc.2008.09.002).
- Gradients are ready one after another in the backward pass. When nothing is under way, Horovod waits for
  its cycle, then sends all that are ready, up to its fusion threshold, as one message. Messages follow each
  other.
- What ends after the backward pass is not hidden; `hidden` says how much of the rest is.
- A step is as long as that of the slowest rank: computing is normally distributed, and the expected largest
  of p draws is Blom's (Statistical Estimates and Transformed Beta-Variables, 1958).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

CYCLE, FUSION = 1e-3, 128 * 2**20  # Horovod 0.28's defaults: seconds, bytes


@dataclass(frozen=True)
class Network:
    """hop: seconds from a rank to the next in the ring, and of a message besides the ring: `fixed`.
    bandwidth: bytes per second over the slowest link of the ring, in one direction.
    """

    hop: float
    fixed: float
    bandwidth: float

    def exchange(self, ranks: int, size: int) -> float:
        """Seconds of one message of some bytes."""
        turns = 2 * (ranks - 1)
        return self.fixed + turns * self.hop + turns / ranks * size / self.bandwidth if turns else 0.0


@dataclass(frozen=True)
class Work:
    """A rank's. computing: seconds of a step. backward: share of it that is the backward pass. spread: the
    standard deviation of `computing`, as a share of it. gradients: of each, bytes and the share of the
    backward pass after which it is ready, in this order. hidden: share of what can be hidden that is.
    """

    computing: float
    backward: float
    spread: float
    gradients: Sequence[tuple[int, float]]
    hidden: float = 1.0


@dataclass(frozen=True)
class Predicted:
    """A step in seconds, by parts. exchanging: of all messages, `communicating` of it not hidden."""

    ranks: int
    computing: float
    waiting: float
    communicating: float
    exchanging: float

    @property
    def step(self) -> float:
        """All parts of it."""
        return self.computing + self.waiting + self.communicating


def predict(
    work: Work, network: Network, ranks: int, cycle: float = CYCLE, fusion: int = FUSION
) -> Predicted:
    """A step of so many ranks. cycle: seconds. fusion: bytes of a message that more is not added to."""
    until, total, now = work.computing * work.backward, 0.0, 0.0
    queue = [(share * until, size) for size, share in work.gradients]
    while queue:
        if queue[0][0] > now:
            now = queue[0][0] + cycle / 2
        message = 0
        while queue and queue[0][0] <= now and (not message or message + queue[0][1] <= fusion):
            message += queue.pop(0)[1]
        taken = network.exchange(ranks, message)
        now, total = now + taken, total + taken
    behind = max(0.0, now - until) if ranks > 1 else 0.0
    communicating = work.hidden * min(behind, total) + (1 - work.hidden) * total
    waiting = work.computing * work.spread * slowest(ranks)
    return Predicted(ranks, work.computing, waiting, communicating, total)


def slowest(ranks: int) -> float:
    """Standard deviations by which the slowest of some ranks is expected above the mean (Blom, 1958)."""
    return NormalDist().inv_cdf((ranks - 0.375) / (ranks + 0.25))
