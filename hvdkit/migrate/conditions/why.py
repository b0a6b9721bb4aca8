"""`--why ROW`: the chain of what the paper job saw, for the rows of the table that are asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Callable

from hvdkit.conditions import chains
from hvdkit.job.record import Place, Record
from hvdkit.migrate.conditions.answers import spot_before
from hvdkit.migrate.conditions.paper_job import MEET, SETTINGS
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.paper_runs import record_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Condition, Reason, State
from hvdkit.migrate.report.locations import spot
from hvdkit.source.index.names import Names

LONG = 90  # characters of code that a step shows
CHAINS: dict[str, Callable[[Record], Iterator[chains.Step]]] = {
    "training data is sharded by rank": chains.of_shares,
    "each epoch has a different order": chains.of_orders,
    "every optimizer averages gradients": chains.of_averages,
    "ranks start from the same weights": chains.of_weights,
    "files are written by rank 0 only": chains.of_writers,
    MEET: chains.of_meetings,
    SETTINGS: chains.of_settings,
}
LOST = "the run of the program on paper did not come to its end: this rests on migrate's rules alone"
NOTHING = "the run of the program on paper saw nothing that this is about"
RULES = "this is decided by migrate's rules, and not by the run of the program on paper"


def with_reasons(
    facts: Facts, program: ProgramFacts, before: Facts, rows: tuple[Condition, ...]
) -> tuple[Condition, ...]:
    """The rows, with their reasons those that are asked for."""
    asked = facts.options.why
    if not asked:
        return rows
    return tuple(
        replace(row, why=tuple(_reasons(facts, program, before, row))) if row.is_called(asked) else row
        for row in rows
    )


def _reasons(facts: Facts, program: ProgramFacts, before: Facts, row: Condition) -> Iterator[Reason]:
    chain = CHAINS.get(row.name)
    record = record_of(facts, program)
    if chain is None or record is None:
        yield Reason(RULES if chain is None else LOST)
        return
    found = dict.fromkeys(_reason(before, row.state, step) for step in chain(record))
    yield from found or [Reason(NOTHING)]


def _reason(before: Facts, state: State, step: chains.Step) -> Reason:
    """A step with its place, as in the row's sentence: in the migrated file for a row that holds."""
    (module, node), text, depth = step
    if not isinstance(module.file, Names):
        return Reason(text, depth)
    if state is State.OPEN:
        return Reason(text, depth, spot_before(before, (module.file, node)), _code(step.place))
    return Reason(text, depth, spot(module.file.source, node), _code(step.place))


def _code(place: Place) -> str:
    """The code of a step: of a statement with a body its first line."""
    node = place[1]
    if isinstance(node, ast.Module):
        return ""
    code = ast.unparse(node).strip().splitlines()[0]
    return code if len(code) <= LONG else f"{code[: LONG - 3]}..."
