"""What all ranks should hold alike beside their parameters: optimizer state, buffers, untrained modules.

Two kinds differ in right programs: the statistics that a normaliser takes of each rank's batches while it
trains, and the state of an optimizer whose updates Adasum combines after a step of each rank's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hvdkit.observe.records import ADASUM, Run, Step

# Fields of a step, as reports call a tensor of each.
HELD = {
    "state": "optimizer state",
    "buffers": "buffer",
    "untrained": "parameter of a module that no optimizer trains",
    "untrained_buffers": "buffer of a module that no optimizer trains",
}
# Of torch's layers, and of Keras'.
STATISTIC = re.compile(
    r"(.*\.)?(running_\w+|num_batches_tracked)|(.*/)?moving_(mean|variance)(_\d+)?( \(\d+\))?"
)


@dataclass(frozen=True)
class Apart:
    """A tensor that a rank holds otherwise than the first rank, where it is seen first. field: of `Step`."""

    field: str
    name: str
    optimizer: int
    step: int
    rank: int


def broadcast_after(run: Run) -> int:
    """The step that a broadcast comes after, where it has to: a model whose weights come with the first batch
    can be sent after the first step only. -1: before all steps, or too late to be that."""
    early = [step for steps in run.steps.values() for step in steps[1:3]]
    late = [step.number for step in early if any(event.what == "late broadcast" for event in step.events)]
    return max(late, default=0) - 1


def states_apart(run: Run) -> Iterator[Apart]:
    """Each tensor that differs between ranks, once, as long as their parameters are equal."""
    fields = [field for field in HELD if field != "state" or not _combines_updates(run)]
    moving = _moving(run)
    since = broadcast_after(run)
    found: set[tuple[str, str]] = set()
    for steps in zip(*run.steps.values()):
        if steps[0].number <= since:
            continue
        if len({_digests(step, "parameters") + _digests(step, "frozen") for step in steps}) > 1:
            return  # what else differs from here on follows from it
        for field in fields:
            tables = [{tensor.name: tensor.digest for tensor in getattr(step, field)} for step in steps]
            if field != "state" and any(table.keys() != tables[0].keys() for table in tables):
                continue  # a rank has a module that others have not: an average that one rank saves
            for name in dict.fromkeys(name for table in tables for name in table):
                values = [table.get(name) for table in tables]
                rank = next((r for r, value in zip(run.steps, values) if value != values[0]), None)
                if rank is not None and name not in moving and (field, name) not in found:
                    found.add((field, name))
                    yield Apart(field, name, steps[0].optimizer, steps[0].number, rank)


def equal_at(run: Run, where: Apart) -> bool:
    """Whether all ranks of another run hold that tensor, and alike, at the same step."""
    seen = [
        {tensor.digest for tensor in getattr(step, where.field) if tensor.name == where.name}
        for steps in run.steps.values()
        for step in steps
        if (step.optimizer, step.number) == (where.optimizer, where.step)
    ]
    return len(seen) == run.world and all(seen) and len(set.union(*seen)) == 1


def held(run: Run) -> list[str]:
    """What kinds the ranks of a run hold at all."""
    return [
        what
        for field, what in HELD.items()
        if any(getattr(step, field) for steps in run.steps.values() for step in steps)
    ]


def _digests(step: Step, field: str) -> tuple[str, ...]:
    return tuple(tensor.digest for tensor in getattr(step, field))


def _combines_updates(run: Run) -> bool:
    return any(
        event.what == ADASUM for steps in run.steps.values() for step in steps for event in step.events
    )


def _moving(run: Run) -> set[str]:
    """Names of statistics that change from step to step on some rank; those that stay are frozen."""
    values: dict[tuple[int, str], set[str]] = {}
    for rank, steps in run.steps.items():
        for step in steps:
            for tensor in (*step.buffers, *step.untrained_buffers):
                if STATISTIC.fullmatch(tensor.name):
                    values.setdefault((rank, tensor.name), set()).add(tensor.digest)
    return {name for (_, name), digests in values.items() if len(digests) > 1}
