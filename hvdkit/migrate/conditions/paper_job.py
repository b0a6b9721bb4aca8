"""The paper job beside the table: a row that holds by the facts is open where the run of the program objects.

The run may only take a row away: what it cannot follow to its end objects to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

from hvdkit.conditions.meetings import unmet
from hvdkit.conditions.objection import Objection
from hvdkit.conditions.orders import same_orders
from hvdkit.conditions.samples import unlike_shares
from hvdkit.conditions.weights import unlike_weights
from hvdkit.conditions.writers import several_writers
from hvdkit.job.record import Place, Record
from hvdkit.migrate.conditions.answers import Answer, Code, open_at, where_it_was
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.paper_runs import record_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.index.names import Names
from hvdkit.migrate.plan import State

MEET = "collectives meet"
OBJECTING: dict[str, Callable[[Record], Iterator[Objection]]] = {
    "training data is sharded by rank": unlike_shares,
    "each epoch has a different order": same_orders,
    "ranks start from the same weights": unlike_weights,
    "files are written by rank 0 only": several_writers,
    MEET: unmet,
}


def with_paper_job(
    facts: Facts, program: ProgramFacts, before: Facts, answers: dict[str, Answer]
) -> dict[str, Answer]:
    """The answers, those open to which the run of the program objects."""
    record = record_of(facts, program)
    if record is None:
        return answers
    found = dict(answers)
    found[MEET] = (
        Answer(State.PROVEN, "all ranks come to the same collectives in the same order")
        if record.met
        else Answer(State.NONE, "there is no collective")
    )
    for name, objecting in OBJECTING.items():
        if found[name].state is not State.OPEN and (objections := [*objecting(record)]):
            found[name] = _answer(before, program, objections)
    return found


def _answer(before: Facts, program: ProgramFacts, objections: list[Objection]) -> Answer:
    """The row that the first objection opens, with the places of all that say the same."""
    first = objections[0]
    alike = [each for each in objections if each.sentence == first.sentence]
    origin = where_it_was(before, _code(program, first.origin)) if first.origin is not None else ""
    return open_at(first.sentence.replace("{origin}", origin), [_code(program, each.at) for each in alike])


def _code(program: ProgramFacts, place: Place) -> Code:
    """A place of a record, for an answer; where its file is none of migrate's, the program's beginning."""
    module, node = place
    if isinstance(module.file, Names):
        return module.file, node
    return program.entry, program.entry.source.tree
