"""Two runs side by side: do they agree, how closely, and what comes first where they do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hvdkit.observe.records import Run
from hvdkit.verify.collectives import lost_collectives, misprinted
from hvdkit.verify.contents import contents_apart
from hvdkit.verify.differences import Difference, Stage, differences_in, pairs_of
from hvdkit.verify.same_state import HELD, equal_at, states_apart
from hvdkit.verify.tolerance import Tolerance


@dataclass(frozen=True)
class Comparison:
    """differences: those beyond the tolerance, first one first. identical: not one bit differs.

    compared: (rank, optimizer, step) that both runs have.
    """

    original: Run
    migrated: Run
    tolerance: Tolerance
    compared: frozenset[tuple[int, int, int]]
    differences: tuple[Difference, ...]
    identical: bool

    @property
    def agree(self) -> bool:
        """Nothing differs by more than the tolerance."""
        return not self.differences


def compare(
    original: Run,
    migrated: Run,
    tolerance: Tolerance,
    more: Iterable[Difference] = (),
    given: bool = False,
) -> Comparison:
    """Compare rank by rank and step by step. more: what else differs. given: the original's ranks were given
    the batches of the migrated's."""
    pairs = pairs_of(original, migrated)
    found = [*more, *(difference for pair in pairs for difference in differences_in(pair, given))]
    found += [*_step_counts(original, migrated), *_shared_files(original, migrated)]
    found += [*lost_collectives(original, migrated), *_parted(original, migrated)]
    found += [*contents_apart(original, migrated), *misprinted(original, migrated)]
    if given and all(difference.stage is Stage.LOSS for difference in found):
        found = []  # a loss may be scaled where its gradients are summed: all that comes of it is equal
    beyond = [d for d in found if not tolerance.covers(d.largest, d.relative)]
    moment = {(s.optimizer, s.number): place for place, s in enumerate(original.steps[min(original.steps)])}

    def in_time(d: Difference) -> tuple[int, int, int]:
        return moment.get((d.optimizer, d.step), len(moment)), d.stage.place, d.rank

    return Comparison(
        original,
        migrated,
        tolerance,
        frozenset((pair.rank, pair.one.optimizer, pair.one.number) for pair in pairs),
        tuple(sorted(beyond, key=in_time)),
        identical=not found,
    )


def _step_counts(original: Run, migrated: Run) -> Iterator[Difference]:
    for rank in sorted({*original.steps, *migrated.steps}):
        one, other = (run.taken(rank) if rank in run.steps else 0 for run in (original, migrated))
        if one != other:
            yield Difference(Stage.STEPS, min(one, other) + 1, 0, rank, "", str(one), str(other))


def _parted(original: Run, migrated: Run) -> Iterator[Difference]:
    """What the ranks of the migrated hold apart, where those of the original have it alike."""
    if original.world < 2:
        return
    for apart in states_apart(migrated):
        if equal_at(original, apart):
            name = f"{HELD[apart.field]} {apart.name}"
            seen = "the same on every rank", f"another than on rank {min(migrated.steps)}"
            yield Difference(Stage.STATE, apart.step, apart.optimizer, apart.rank, name, *seen)


def _shared_files(original: Run, migrated: Run) -> Iterator[Difference]:
    """Files that several ranks of the migrated write and at most one of the original does."""
    before = writers(original)
    for (name, step), ranks in writers(migrated).items():
        earlier = before.get((name, step), [])
        if len(ranks) > 1 >= len(earlier):
            yield Difference(Stage.FILES, step, 0, ranks[1], name, _ranks(earlier), _ranks(ranks))


def writers(run: Run) -> dict[tuple[str, int], list[int]]:
    """Ranks that wrote a file in the time before a step, each once, by file and step.

    A rank may have written it several times: before the steps of several optimizers, or after its last step.
    """
    found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for rank, steps in run.steps.items():
        for step in steps:
            for name in step.writes:
                if rank not in found[name, step.number]:
                    found[name, step.number].append(rank)
    return dict(found)


def _ranks(ranks: list[int]) -> str:
    return "written by " + (f"rank {', '.join(map(str, ranks))}" if ranks else "none")
