"""What makes the steps of a timeline slow; each cause with its share of a step and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hvdkit.dataclass import dataclass
from hvdkit.printable import counted
from hvdkit.timeline.steps import Step, median

# Shares of a step.
LATE, BLOCKING, EXCHANGING, LINK = 0.10, 0.05, 0.05, 0.20
AT_ONCE = 0.02
_MOSTLY = 2 / 3  # of the steps
_FEW = 4  # gradients: fewer say nothing about overlap or fusion
_SMALL, _LARGE = 1 << 20, 1 << 16  # bytes of an exchange: its latency counts below, its bandwidth above
_SLOW = 125e6  # bytes a second: a link of one gigabit
_SHORT = 5e-3  # seconds: a backward pass that Horovod's cycles cannot divide


@dataclass(frozen=True)
class Cause:
    """One of them. name: for machines. share: of the step, from 0 to 1, that it takes, or may take."""

    name: str
    share: float
    seen: str
    fix: str


def causes_of(steps: Sequence[Step]) -> list[Cause]:
    """The largest first."""
    duration = median(step.duration for step in steps)
    if not duration:
        return []
    found = [*_late(steps, duration), *_blocking(steps, duration), *_sent(steps, duration)]
    return sorted(found, key=lambda cause: -cause.share)


def bandwidth(steps: Sequence[Step], ranks: int) -> float:
    """Bytes a second over each rank's link in the fastest exchange; 0.0 where none is large enough to say.

    The fastest, because what waits for a rank is not the link. A ring allreduce of n ranks sends
    2 (n - 1) / n times the data over each link (NCCL's "bus bandwidth":
    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md).
    """
    large = [each for step in steps for each in step.exchanges if each[1] >= _LARGE and each[0] > 0]
    fastest = max((size / seconds for seconds, size in large), default=0.0)
    return fastest * 2 * (ranks - 1) / ranks if ranks > 1 else 0.0


def _late(steps: Sequence[Step], duration: float) -> Iterator[Cause]:
    late = [step.late() for step in steps]
    ((rank, times),) = Counter(rank for rank, _, _ in late).most_common(1)
    behind = median(behind for other, behind, _ in late if other == rank)
    share = behind / duration
    if times < _MOSTLY * len(steps) or share < LATE:
        return
    begun = median(begun for other, _, begun in late if other == rank)
    if begun >= behind / 2:
        yield Cause(
            "late-start",
            share,
            f"rank {rank} reaches its first gradient {ms(begun)} after the others",
            "look at what it does between two backward passes: its data loader first (workers, disk, "
            "decoding), then the forward pass, and what it alone writes or logs",
        )
    else:
        yield Cause(
            "slow-rank",
            share,
            f"rank {rank} falls {ms(behind)} behind the others during the backward pass",
            "compare its host with the others: clock and load of its processor or GPU, other jobs on it, "
            "threads for each rank (OMP_NUM_THREADS)",
        )


def _blocking(steps: Sequence[Step], duration: float) -> Iterator[Cause]:
    share = median(step.waited for step in steps) / duration
    if share >= BLOCKING:
        names = sorted({each.tensor for step in steps for each in step.blocking})
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        yield Cause(
            "blocking",
            share,
            f"each step waits for {counted(len(names), 'collective')} that nothing overlaps: {shown}",
            "reduce metrics once an epoch, or all at once (hvd.grouped_allreduce, hvd.allreduce_async)",
        )


def _sent(steps: Sequence[Step], duration: float) -> Iterator[Cause]:
    """What concerns the exchange of the gradients."""
    gradients = median(len(step.gradients) for step in steps)
    exchanging = median(step.exchanging for step in steps) / duration
    if exchanging < EXCHANGING:
        return
    exchanges = median(len(step.exchanges) for step in steps)
    arrivals = median(step.arrivals for step in steps)
    size = median(step.size for step in steps) / exchanges if exchanges else 0.0
    spans = [max(step.last[rank] - step.first[rank] for rank in step.first) for step in steps]
    computing = median(step.duration - step.exchanging for step in steps)
    if gradients >= _FEW and exchanges > 2 * arrivals and size < _SMALL:
        yield Cause(
            "no-fusion",
            exchanging,
            f"{exchanges:.0f} exchanges a step, of {_bytes(size)} each, for gradients that are ready "
            "together",
            "leave HOROVOD_FUSION_THRESHOLD at its default of 128 MiB, and do not set "
            "HOROVOD_DISABLE_GROUP_FUSION",
        )
    elif gradients >= _FEW and median(spans) <= AT_ONCE * duration and computing > _SHORT:
        yield Cause(
            "no-overlap",
            exchanging,
            "all gradients are requested at once, after the backward pass: nothing of their exchange is "
            "hidden",
            "wrap the optimizer after the model was moved to its device and its type (`hvdkit migrate` moves "
            "such a line), and leave averages to hvd.DistributedOptimizer instead of reducing them after "
            "backward()",
        )
    rate = bandwidth(steps, max(len(step.last) for step in steps))
    if exchanging >= LINK and 0 < rate < _SLOW:
        yield Cause(
            "slow-link",
            exchanging,
            f"gradients go over each link at {_bytes(rate)}/s, less than a gigabit Ethernet carries",
            "let ranks use the fastest interface (--network-interface), measure the link between the hosts "
            "(iperf3), or send less: compression=hvd.Compression.fp16, backward_passes_per_step",
        )


def ms(seconds: float) -> str:
    """Seconds as milliseconds, for a person."""
    return f"{seconds * 1e3:.1f} ms"


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
