"""Which samples ranks train and evaluate on: each on its own share of one set, split alike everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from hvdkit.observe.records import LEAVES_OUT, MADE, TF_DATA, Draw, Run
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariant import Invariant, Unchecked
from hvdkit.verify.passes import first_epoch, pass_ended, training_loader
from hvdkit.verify.rows import ALL, NAME, check_rows

SPLIT = Cause(
    "HVD305",
    "each rank splits the data with its own random numbers: give random_split "
    "generator=torch.Generator().manual_seed(0), train_test_split a random_state",
)
UNLIKE = Cause(
    "HVD305",
    "ranks have different samples under the same index: what is drawn, ordered or fitted before training (a "
    "split, a vocabulary, a normaliser) must be the same on every rank: seed it, sort sets, fit on all of "
    "the data, or send rank 0's by hvd.broadcast_object",
)
CHANGED = Cause(
    "HVD305",
    "no sample of the ranks is one of the original's: what is fitted or changed before training (a "
    "normaliser, a vocabulary, a transform) must be made of all of the data, as the original makes it",
)
STREAM = Cause(
    "HVD302",
    "every rank reads the whole stream: let each rank take every hvd.size()-th sample, starting at "
    "its hvd.rank()-th, before shuffling",
)
Parts = dict[int, dict[str, int]]  # samples of each loader made, a bit for each, by data set


def check_shares(original: Run, migrated: Run, sharding: Cause) -> Iterator[Invariant]:
    """Ranks train on different samples, together on all; under one index all find the same; what one trains
    on, no rank evaluates on. sharding: what to look at where samples are on several ranks."""
    loader = training_loader(migrated)
    first = first_epoch(migrated, loader)
    unlike = _unlike(migrated)
    by_index = _by_rank(migrated, loader, first)
    shared = _shared(by_index)
    trained = _trained_on(migrated, loader)
    if any(by_index) and _repeats(original, loader, first):
        alike = any(share == other for share, other in combinations(by_index, 2))
        yield Invariant(NAME, not alike, "drawn with replacement, as the original draws them", sharding)
        yield from _alike(migrated, unlike & trained)
    elif any(by_index) and (shared < migrated.world or not unlike & trained):
        same_place = _shared(_indices(migrated, loader, first))
        split = SPLIT if same_place < migrated.world else sharding
        yield _different(migrated, by_index, shared, split)
        yield from _complete(original, migrated, loader, first, sharding)
        yield from _alike(migrated, unlike & trained)
        yield from _kept(original, migrated, loader, first)
    elif loader < 0:
        same = tuple(_by_loss(migrated, sharding))
        yield from same or check_rows(original, migrated, _divided(sharding)).invariants
    else:  # no index, or each rank has a share of its own made before
        cause = sharding if any(by_index) else STREAM
        yield from _by_content(migrated, loader, first, cause)
        if not any(by_index):
            yield from _complete(original, migrated, loader, first, cause)
    yield from _apart(migrated, loader, unlike)


def _repeats(run: Run, loader: int, first: int) -> bool:
    """Whether a sample comes twice in an epoch of one process, so that any rank may have it, or none."""
    shares = _by_rank(run, loader, first)
    return len(shares) == 1 and len(set(shares[0])) < len(shares[0])


def unchecked_shares(original: Run, migrated: Run, sharding: Cause) -> tuple[Unchecked, ...]:
    """What of it could not be seen."""
    if tuple(_by_loss(migrated, sharding)):
        return ()
    return check_rows(original, migrated, sharding).unchecked


def _different(run: Run, shares: list[list[object]], shared: int, cause: Cause) -> Invariant:
    count = len({sample for share in shares for sample in share})
    # A sampler that fills up to equal lengths repeats at most one sample for each rank but one.
    return Invariant(
        NAME,
        shared < run.world,
        f"{shared} of {count} samples of the first epoch are on several ranks",
        cause,
    )


def _complete(original: Run, migrated: Run, loader: int, first: int, cause: Cause) -> Iterator[Invariant]:
    """By the number of samples: a seed that a split was given may choose others than the original's. By
    contents where no index is drawn, and the job's are the original's (augmented samples are not)."""
    if not all(pass_ended(run, loader, first) for run in (original, migrated)):
        return
    whole, drawn = (
        {i for share in _by_rank(run, loader, first) for i in share} for run in (original, migrated)
    )
    if not whole:
        whole, drawn = (
            {i for share in _contents(run, loader, first) for i in share} for run in (original, migrated)
        )
        if not drawn <= whole:
            return
    contents = any(draw.sampler == TF_DATA for draw in _draws(migrated, 0, loader, first))
    missing = len(whole - drawn) if contents else max(0, len(whole) - len(drawn))
    left = _left_out(migrated, loader)
    seen = f"{missing} of {len(whole)} are left out"
    told = f"{seen}, of {left} that fill no batch" if left else seen
    yield Invariant(ALL, missing <= left, told, cause)


def _left_out(run: Run, loader: int) -> int:
    """Samples of all ranks that a loader with drop_last leaves out in a pass."""
    counts: dict[int, int] = {}
    for rank, steps in run.steps.items():
        for event in (event for step in steps for event in step.events if event.what == LEAVES_OUT):
            number, count = map(int, event.detail.split())
            if number == loader:
                counts[rank] = count
    return sum(counts.values())


def _alike(run: Run, unlike: set[str]) -> Iterator[Invariant]:
    """Told where samples were drawn again on all ranks."""
    name = "a sample is the same on every rank"
    if unlike:
        yield Invariant(name, False, f"{min(unlike)} holds different samples on each rank", UNLIKE)
    elif all(any(step.probes for step in steps) for steps in run.steps.values()):
        yield Invariant(name, True, "those drawn again after the last step")


def _kept(original: Run, migrated: Run, loader: int, first: int) -> Iterator[Invariant]:
    """Told where samples are the same whenever they are drawn, and the original has drawn all that it has."""
    probed = [_probed(run, _trained_on(run, loader)) for run in (original, migrated)]
    if not all(probed) or not pass_ended(original, loader, first):
        return
    whole, drawn = (
        {content for share in _contents(run, loader, first) for content in share}
        for run in (original, migrated)
    )
    # A split may choose other samples, in another order, and a batch may fill them up: some are as they were.
    if whole and drawn:
        kept = bool(whole & drawn or probed[0] & probed[1])
        seen = f"{len(drawn - whole)} of {len(drawn)} are not among the original's"
        yield Invariant("samples are what the original makes of them", kept, seen, CHANGED)


def _probed(run: Run, data: set[str]) -> set[str]:
    """What samples of these data sets hold each time that they are drawn."""
    probes = (probe for steps in run.steps.values() for step in steps for probe in step.probes)
    return {probe.digest for probe in probes if probe.data in data and probe.digest}


def _by_content(run: Run, loader: int, first: int, cause: Cause) -> Iterator[Invariant]:
    """Where all contents of a rank differ, so that they tell samples apart."""
    shares = _contents(run, loader, first)
    if all(share and len(set(share)) == len(share) for share in shares):
        yield _different(run, shares, _shared(shares), cause)


def _by_loss(run: Run, cause: Cause) -> Iterator[Invariant]:
    """Where no loader gives the batches: equal weights and the same losses are of the same batches."""
    losses = {rank: [step.losses for step in steps if step.losses] for rank, steps in run.steps.items()}
    first = losses[min(losses)]
    if len(first) < 2 or len(set(first)) < 2:
        return
    if all(other[: len(first)] == first[: len(other)] for other in losses.values()):
        yield Invariant(NAME, False, "every rank has the same loss in each step", _divided(cause))


def _divided(cause: Cause) -> Cause:
    text = "no loader divides the data: give each rank its share, by hvd.rank() and hvd.size()"
    return replace(cause, text=text)


def _apart(run: Run, loader: int, unlike: set[str]) -> Iterator[Invariant]:
    """Told where a rank holds samples, by a loader, that it does not train on."""
    parts = {rank: _parts(run, rank) for rank in run.steps}
    trains = {rank: _made(run, rank, loader) for rank in run.steps}
    held, both = False, 0
    for rank, own in parts.items():
        for other, theirs in parts.items():
            for made in theirs:
                if made == trains[other] or made == trains[rank]:
                    continue
                here = _common(own, trains[rank], own, made, unlike)
                there = _common(theirs, trains[other], theirs, made, unlike)
                if here or there:
                    continue  # the script evaluates on what it trains on
                held = held or _same_data(own.get(trains[rank], {}), theirs[made], unlike)
                both = max(both, _common(own, trains[rank], theirs, made, unlike))
    if held:
        yield Invariant(
            "no rank trains on samples that another evaluates on",
            not both,
            f"{both} samples are in the training loader of one rank and in another loader of a second"
            if both
            else "by the samples that loaders hold",
            SPLIT,
        )


def _common(one: Parts, first: int, other: Parts, second: int, unlike: set[str]) -> int:
    """Samples in two loaders."""
    left, right = one.get(first, {}), other.get(second, {})
    return sum((left[data] & right[data]).bit_count() for data in left.keys() & right.keys() - unlike)


def _same_data(one: dict[str, int], other: dict[str, int], unlike: set[str]) -> bool:
    return bool(one.keys() & other.keys() - unlike)


def _parts(run: Run, rank: int) -> Parts:
    found: Parts = {}
    for step in run.steps[rank]:
        for pool in step.pools:
            found.setdefault(pool.made, {})[pool.data] = pool.mask
    return found


def _made(run: Run, rank: int, loader: int) -> int:
    """The place among all loaders made of the one with this number; -1 if it was not seen being made."""
    events = (event for step in run.steps[rank] for event in step.events if event.what == MADE)
    pairs = (event.detail.split() for event in events)
    return next((int(made) for number, made in pairs if int(number) == loader), -1)


def loaders_like(run: Run, rank: int, loader: int) -> set[int]:
    """Others that train, too, and have the same samples: a script may make one for each epoch."""
    parts = _parts(run, rank)
    own = parts.get(_made(run, rank, loader))
    others = {step.loader for step in run.steps[rank] if step.number} - {loader}
    return {other for other in others if own and parts.get(_made(run, rank, other)) == own}


def _trained_on(run: Run, loader: int) -> set[str]:
    """The data sets of the loader that trains."""
    return {data for rank in run.steps for data in _parts(run, rank).get(_made(run, rank, loader), {})}


def _unlike(run: Run) -> set[str]:
    """Data sets with another sample under an index on another rank, and the same one each time on each."""
    seen: dict[tuple[str, int], set[str]] = {}
    for steps in run.steps.values():
        for step in steps:
            for probe in step.probes:
                seen.setdefault((probe.data, probe.index), set()).add(probe.digest)
    return {data for (data, _), digests in seen.items() if len(digests) > 1 and "" not in digests}


def _draws(run: Run, rank: int, loader: int, epoch: int) -> Iterator[Draw]:
    for step in run.steps[rank]:
        yield from (draw for draw in step.draws if (draw.loader, draw.epoch) == (loader, epoch))


def _indices(run: Run, loader: int, epoch: int) -> list[list[object]]:
    return [[i for draw in _draws(run, rank, loader, epoch) for i in draw.indices] for rank in run.steps]


def _contents(run: Run, loader: int, epoch: int) -> list[list[object]]:
    return [
        [
            content
            for step in run.steps[rank]
            for draw in step.contents
            if (draw.loader, draw.epoch) == (loader, epoch)
            for content in draw.indices
        ]
        for rank in run.steps
    ]


def _by_rank(run: Run, loader: int, epoch: int) -> list[list[object]]:
    return [
        [sample for draw in _draws(run, rank, loader, epoch) for sample in draw.drawn] for rank in run.steps
    ]


def _shared(shares: list[list[object]]) -> int:
    """Samples that several ranks have."""
    counts = Counter(sample for share in shares for sample in set(share))
    return sum(count > 1 for count in counts.values())
