"""A prediction for more ranks than there are: the model of a step, fitted to what was measured here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hvdkit.bench import figures
from hvdkit.bench.figures import Block
from hvdkit.bench.model import Network, Predicted, Work, predict
from hvdkit.bench.recorded import Recorded
from hvdkit.doctor.allreduce import Measured

_HOP = (
    15e-6  # seconds: a TCP round trip of a data center's Ethernet, halved; taken where it cannot be measured
)
_TO_DEVIATION = 1.349  # quartiles of a normal distribution are so many standard deviations apart


@dataclass(frozen=True)
class Outlook:
    """predicted: a step of the job on more ranks. one: seconds of a step of one rank, as measured.
    inputs: a sentence for each figure that the model was given.
    """

    predicted: Predicted
    one: float
    inputs: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """For --json."""
        found = self.predicted
        return {
            "ranks": found.ranks,
            "step": found.step,
            "computing": found.computing,
            "waiting": found.waiting,
            "communicating": found.communicating,
            "efficiency": self.one / found.step,
            "inputs": list(self.inputs),
        }


def outlook(blocks: Sequence[Block], exchanges: Sequence[Measured], ranks: int) -> Outlook:
    """Fitted to blocks of jobs of two or more ranks, and to allreduces of several sizes on the same hosts."""
    network, known = fit_network(exchanges)
    jobs = [block["horovod"] for block in blocks]
    work = fit_work(jobs, [block["one"] for block in blocks], network)
    one = figures.middle(blocks, "one", lambda job: figures.step_of(job).median)
    hop = "from the smallest messages" if known else "assumed: two ranks do not show it"
    by_mpi = (jobs[0].controller, jobs[0].device) == ("mpi", "cpu")  # NCCL carries what is on GPUs
    ring = ", which MPI forms for some numbers of ranks and bytes only" if by_mpi else ""
    inputs = (
        f"network: {network.bandwidth * 8 / 1e9:.2f} Gbit/s over each link, {network.fixed * 1e3:.2f} ms a "
        f"message, {network.hop * 1e6:.0f} us a hop ({hop})",
        f"a rank: computing {work.computing * 1e3:.1f} ms as with {jobs[0].ranks} ranks (spread "
        f"{100 * work.spread:.1f} %), {100 * work.backward:.0f} % of it backward, "
        f"{len(work.gradients)} gradients",
        f"{100 * work.hidden:.0f} % of what could be hidden is, fitted to the step of {jobs[0].ranks} ranks",
        "assumed: every host has as many ranks as these, and the same link; one ring through all ranks"
        f"{ring}",
    )
    return Outlook(predict(work, network, ranks), one, inputs)


def fit_network(exchanges: Sequence[Measured]) -> tuple[Network, bool]:
    """The network that explains allreduces, and whether the time of a hop is measured rather than assumed.

    The largest message gives the bandwidth, the smallest what does not depend on the size. How much of that
    is hops shows only where numbers of ranks differ.
    """
    counts = sorted({each.ranks for each in exchanges})
    small = [min(_of(exchanges, count), key=lambda each: each.size) for count in counts]
    large = max(_of(exchanges, counts[-1]), key=lambda each: each.size)
    turns = 2 * (large.ranks - 1)
    seconds = max(large.seconds - small[-1].seconds, 1e-9)
    bandwidth = turns / large.ranks * (large.size - small[-1].size) / seconds
    if len(counts) > 1:
        hop = max(0.0, (small[-1].seconds - small[0].seconds) / (2 * (counts[-1] - counts[0])))
    else:
        hop = min(_HOP, small[-1].seconds / turns)
    return Network(hop, max(0.0, small[-1].seconds - turns * hop), bandwidth), len(counts) > 1


def fit_work(jobs: Sequence[Recorded], ones: Sequence[Recorded], network: Network) -> Work:
    """A rank's work: computing as it is beside other ranks, and as much hidden as the jobs' steps say."""
    parts = [figures.parts_of(job) for job in jobs]
    computing = statistics.median(part.computing for part in parts)
    profile = ones[0]
    work = Work(
        computing,
        profile.backward,
        statistics.median(_deviation(computed) for job in jobs for computed in job.computed) / computing,
        profile.gradients,
    )
    best = predict(work, network, jobs[0].ranks)
    worst = predict(replace(work, hidden=0.0), network, jobs[0].ranks)
    measured = statistics.median(part.communicating for part in parts)
    hideable = worst.communicating - best.communicating
    hidden = (worst.communicating - measured) / hideable if hideable else 1.0
    return replace(work, hidden=min(1.0, max(0.0, hidden)))


def _deviation(values: Sequence[float]) -> float:
    """Standard deviation by the quartiles, which a few disturbed steps do not change."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / _TO_DEVIATION


def _of(exchanges: Sequence[Measured], ranks: int) -> list[Measured]:
    return [each for each in exchanges if each.ranks == ranks]
