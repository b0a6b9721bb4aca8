"""What must hold on several ranks when there is no original to compare with: the original had one process.

Read from one run of the migrated script; the original's record tells the learning rate and the samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from hvdkit.observe.records import SETS_EPOCH, Event, Run, Step
from hvdkit.verify.cause import Cause
from hvdkit.verify.causes import STATE
from hvdkit.verify.compare import writers
from hvdkit.verify.decisions import check_decisions
from hvdkit.verify.epochs import check_batches, check_steps_of_epoch
from hvdkit.verify.evaluations import check_evaluations
from hvdkit.verify.invariant import Invariant
from hvdkit.verify.order import check_order
from hvdkit.verify.passes import first_epoch, training_loader
from hvdkit.verify.same_state import HELD, broadcast_after, held, states_apart
from hvdkit.verify.shares import check_shares, loaders_like


@dataclass(frozen=True)
class Causes:
    """What to look at when an invariant does not hold.

    start, later: ranks that differ before the first step, or part after it. shard: samples on several ranks.
    order: epochs in one order. rate: the learning rate. writer: a file that several ranks write. state: what
    they hold beside parameters. steps: those of an epoch. metric: what ranks decide by. batch: its size. None
    where it is not recorded, or compared with the original itself.
    """

    start: Cause
    later: Cause
    shard: Cause
    order: Cause
    rate: Cause | None
    writer: Cause
    state: Cause | None = None
    steps: Cause | None = None
    metric: Cause | None = None
    batch: Cause | None = None


OF_TORCH = Causes(
    start=Cause("HVD402", "broadcast the parameters before training"),
    later=Cause("HVD401", "wrap the optimizer, with every parameter that is trained"),
    shard=Cause("HVD302", "give the training loader a DistributedSampler with Horovod's rank and size"),
    order=Cause(
        "HVD303",
        "call sampler.set_epoch(epoch) at the start of each epoch, with a different number each time",
    ),
    rate=Cause("HVD403", "scale the learning rate once, by hvd.size()"),
    writer=Cause("HVD601", "write files on rank 0 only: if hvd.rank() == 0"),
    state=STATE,
)


def beside_twins(causes: Causes) -> Causes:
    """What is left where the original runs as as many ranks: what it is given by them, and what no value
    shows."""
    return replace(causes, rate=None, metric=None)


def check_invariants(original: Run, migrated: Run, causes: Causes = OF_TORCH) -> tuple[Invariant, ...]:
    """Ranks equal after each step in all they hold, shards disjoint and complete, epochs in different orders,
    one learning rate, one writer per file."""
    return (
        _ranks_equal(migrated, causes),
        *_states_equal(migrated, causes),
        *check_shares(original, migrated, causes.shard),
        *_epochs(original, migrated, causes.order),
        *((_rate(original, migrated, causes.rate),) if causes.rate else ()),
        _writers(migrated, causes.writer),
        *check_order(migrated),
        *check_evaluations(migrated),
        *(check_decisions(migrated, causes.metric) if causes.metric else ()),
        *(check_steps_of_epoch(original, migrated, causes.steps) if causes.steps else ()),
        *(check_batches(original, migrated, causes.batch) if causes.batch else ()),
    )


def _ranks_equal(run: Run, causes: Causes) -> Invariant:
    name = "all ranks hold the same parameters after each step"
    since = broadcast_after(run)
    for steps in zip(*run.steps.values()):
        if steps[0].number <= since:
            continue
        apart = [
            tensors[0].name
            for tensors in zip(*(step.parameters + step.frozen for step in steps))
            if len({tensor.digest for tensor in tensors}) > 1
        ]
        if apart:
            seen = f"{apart[0]} differs, {_when(steps[0])}"
            cause = causes.later if steps[0].number else causes.start
            return Invariant(name, False, seen, _of_a_part(cause, apart, steps[0]))
    told = f"{max(map(run.taken, run.steps))} steps, {run.world} ranks"
    return Invariant(name, True, told if since < 0 else f"{told}, from the broadcast after step {since} on")


def _of_a_part(cause: Cause, apart: list[str], step: Step) -> Cause:
    """The cause, with the names of what parted in a step where other parameters did not."""
    if not step.number or len(apart) >= len(step.parameters):
        return cause
    shown = ", ".join(apart[:4]) + (f" and {len(apart) - 4} more" if len(apart) > 4 else "")
    return replace(cause, text=f"not averaged, as others are: {shown}; {cause.text}")


def _states_equal(run: Run, causes: Causes) -> Iterator[Invariant]:
    """Told where ranks hold anything but parameters, for frameworks whose record has all of it."""
    kinds = held(run)
    if causes.state is None or not kinds:
        return
    name = "all ranks hold the same optimizer state, buffers and untrained modules"
    apart = list(states_apart(run))
    if not apart:
        yield Invariant(name, True, f"each {', '.join(kinds)}")
        return
    first = apart[0]
    when = f"step {first.step}" if first.step else "before the first step"
    more = f", and {len(apart) - 1} more" if len(apart) > 1 else ""
    seen = f"{HELD[first.field]} {first.name} differs on rank {first.rank}, {when}{more}"
    yield Invariant(name, False, seen, causes.state)


def _when(step: Step) -> str:
    return f"step {step.number}" if step.number else "before the first step"


# Two epochs may be in one order by chance where there are no more orders than this.
ORDERS = 500


def _epochs(original: Run, migrated: Run, order: Cause) -> Iterator[Invariant]:
    """Where the original shuffles anew for each epoch, every rank does; told once a second one has begun."""
    passes = {rank: _passes(migrated, rank) for rank in migrated.steps}
    if not _shuffles_anew(original) or min(len(epochs) for epochs in passes.values()) < 2:
        return
    repeated = [
        (rank, one, other)
        for rank, epochs in passes.items()
        for one, other in combinations(epochs, 2)
        if _same_order(epochs[one], epochs[other])
    ]
    seen = f"in the {max(map(len, passes.values()))} epochs that were started"
    if repeated:
        rank, one, other = repeated[0]
        seen = f"epoch {other} has the order of epoch {one} on rank {rank}"
    yield Invariant("each epoch has a different order", not repeated, seen, order)


def _passes(run: Run, rank: int) -> dict[int, list[object]]:
    """The samples of each pass over the loader that trains, or one made anew for an epoch, in order."""
    loader = training_loader(run)
    first = first_epoch(run, loader)
    made_anew = loaders_like(run, rank, loader)
    found: dict[tuple[int, int], list[object]] = {}
    for step in run.steps[rank]:
        for draw in step.draws:
            if draw.loader in made_anew or (draw.loader == loader and draw.epoch >= first):
                found.setdefault((draw.loader, draw.epoch), []).extend(draw.indices)
    return dict(enumerate(found.values()))


def _same_order(one: list[object], other: list[object]) -> bool:
    """As far as both were drawn, and not by chance."""
    return not _differ(one, other) and math.perm(len({*one, *other}), min(len(one), len(other))) > ORDERS


def _differ(one: list[object], other: list[object]) -> bool:
    return any(a != b for a, b in zip(one, other))


def _shuffles_anew(run: Run) -> bool:
    """Whether the first rank's epochs are meant to differ: they do, or their sampler makes them where the run
    ended before the second."""
    epochs = list(_passes(run, min(run.steps)).values())
    if not epochs:
        return False
    if any(_differ(epochs[0], other) for other in epochs[1:]):
        return True
    steps = run.steps[min(run.steps)]
    loader = training_loader(run)
    takes_epoch = any(Event(SETS_EPOCH, str(loader)) in step.events for step in steps)
    if takes_epoch:  # fixed until set_epoch is called, as in a script that is its own reference
        return not _ascending(epochs[0])
    samplers = {draw.sampler for step in steps for draw in step.draws if draw.loader == loader}
    return len(epochs) == 1 and samplers == {"RandomSampler"}


def _ascending(samples: list[object]) -> bool:
    """Not shuffled, but for the samples that fill up the last places."""
    numbers = [sample for sample in samples if isinstance(sample, int)]
    falls = sum(later < earlier for earlier, later in zip(numbers, numbers[1:]))
    return falls <= 1


def _rate(original: Run, migrated: Run, cause: Cause) -> Invariant:
    """Equal, or scaled by the number of ranks, and the same on every rank; either way the number is told.

    A rank takes fewer steps in an epoch than the original, so a schedule that counts epochs is compared where
    epochs begin, and one that counts steps step by step; one of the two has to hold throughout.
    """
    alike = all(len({step.rates for step in steps}) == 1 for steps in zip(*migrated.steps.values()))
    allowed = (1.0, float(migrated.world))
    found = [_ratios(pairs) for pairs in (_by_step(original, migrated), _by_epoch(original, migrated))]
    holds = alike and any(
        ratios and all(abs(ratio - wanted) < 1e-6 * wanted for ratio in ratios)
        for ratios in found
        for wanted in allowed
    )
    here = " ".join(_as_text([steps[-1].rates for steps in migrated.steps.values()]))
    before = " ".join(_as_text([original.steps[0][-1].rates]))
    return Invariant(
        "the learning rate is the original's, or scaled by the number of ranks",
        holds,
        f"{here} here, {before} in the original, at the last step",
        cause,
    )


Rates = tuple[tuple[float, ...], tuple[float, ...]]  # the original's and the migrated's


def _by_step(original: Run, migrated: Run) -> list[Rates]:
    return [(one.rates, other.rates) for one, other in zip(original.steps[0], migrated.steps[0])]


def _by_epoch(original: Run, migrated: Run) -> list[Rates]:
    """The rates of the first step of each epoch of the training loader that both began."""
    loader = training_loader(migrated)
    firsts: list[dict[int, tuple[float, ...]]] = []
    for run in (original, migrated):
        first: dict[int, tuple[float, ...]] = {}
        for step in run.steps[0]:
            for draw in step.draws:
                if draw.loader == loader:
                    first.setdefault(draw.epoch, step.rates)
        firsts.append(first)
    return [(rates, firsts[1][epoch]) for epoch, rates in firsts[0].items() if epoch in firsts[1]]


def _ratios(pairs: list[Rates]) -> set[float]:
    """What the original's rates are multiplied by; those of zero say nothing, unless all are."""
    numbers = [(a, b) for one, other in pairs for a, b in zip(one, other)]
    return {b / a for a, b in numbers if a} or {1.0 for a, b in numbers if a == b}


def _as_text(rates: list[tuple[float, ...]]) -> list[str]:
    return [f"{rate:g}" for rate in sorted({rate for each in rates for rate in each})]


def _writers(run: Run, cause: Cause) -> Invariant:
    shared = sorted({name for (name, _), ranks in writers(run).items() if len(ranks) > 1})
    return Invariant(
        "each file has one writer",
        not shared,
        f"written by several ranks: {', '.join(shared)}" if shared else "in the recorded steps",
        cause,
    )
