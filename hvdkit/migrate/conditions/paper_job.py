"""The paper job beside the table: a row that holds by the facts is open where the run of the program objects.

The run may only take a row away: what it cannot follow to its end objects to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

from hvdkit.conditions.as_written import compiled_by_xla, divided_to_zero, read_too_early
from hvdkit.conditions.hooks import moved_late, stepped_past
from hvdkit.conditions.meetings import unmet
from hvdkit.conditions.objection import Objection
from hvdkit.conditions.orders import same_orders
from hvdkit.conditions.samples import unlike_shares
from hvdkit.conditions.settings import unlike_settings
from hvdkit.conditions.weights import unlike_weights
from hvdkit.conditions.writers import several_writers, unlike_names
from hvdkit.job.columns import alike
from hvdkit.job.record import Place, Record
from hvdkit.library import horovod
from hvdkit.library.effects import Sends
from hvdkit.migrate.conditions.answers import Answer, Code, open_at, where_it_was
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.programs.paper_runs import record_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.plan import State
from hvdkit.source.index.names import Names

MEET = "collectives meet"
SETTINGS = "ranks train with the same settings"  # a row where they do not
Objecting = Callable[[Record], Iterator[Objection]]
OBJECTING: dict[str, tuple[Objecting, ...]] = {
    "Horovod is initialized before CUDA": (read_too_early,),
    "training data is sharded by rank": (unlike_shares, divided_to_zero),
    "each epoch has a different order": (same_orders,),
    "ranks start from the same weights": (unlike_weights,),
    "every optimizer averages gradients": (moved_late, stepped_past),
    "files are written by rank 0 only": (several_writers, unlike_names),
    MEET: (unmet,),
    SETTINGS: (unlike_settings,),
}
OF_TENSORFLOW: dict[str, tuple[Objecting, ...]] = {
    "Horovod is initialized before TensorFlow is used": (read_too_early,),
    "training data is sharded by rank": (divided_to_zero,),
    "every optimizer averages gradients": (compiled_by_xla,),
    "ranks start from the same weights": (unlike_weights,),
}


def with_paper_job(
    facts: Facts, program: ProgramFacts, before: Facts, answers: dict[str, Answer], training: bool
) -> dict[str, Answer]:
    """The answers, those open to which the run of the program objects. training: whether it trains."""
    record = record_of(facts, program)
    if record is None:
        return answers
    found = {**answers, MEET: _meetings(facts, program, record)}
    found.update(_objected(program, before, found, record, OBJECTING))
    # Nothing is known of what the run did not come to.
    unseen = training and not record.trained
    if found[MEET].state is not State.OPEN and (unseen or not _saw_all(facts, program, record)):
        del found[MEET]
    return found


def with_objections(
    facts: Facts, program: ProgramFacts, before: Facts, answers: dict[str, Answer]
) -> dict[str, Answer]:
    """The answers of a TensorFlow program, those open to which the run objects."""
    record = record_of(facts, program)
    if record is None:
        return answers
    return {**answers, **_objected(program, before, answers, record, OF_TENSORFLOW)}


def _objected(
    program: ProgramFacts,
    before: Facts,
    answers: dict[str, Answer],
    record: Record,
    conditions: dict[str, tuple[Objecting, ...]],
) -> dict[str, Answer]:
    """The rows that the run of a program opens."""
    return {
        name: _answer(before, program, objections)
        for name, objecting in conditions.items()
        if name not in answers or answers[name].state is not State.OPEN
        if (objections := [each for objects in objecting for each in objects(record)])
    }


def _meetings(facts: Facts, program: ProgramFacts, record: Record) -> Answer:
    if record.met or any(_collectives(facts, program)):
        return Answer(State.PROVEN, "all ranks come to the same collectives in the same order")
    return Answer(State.NONE, "there is no collective")


def _saw_all(facts: Facts, program: ProgramFacts, record: Record) -> bool:
    """Whether the run came to each collective of a program, by the same way on all ranks."""
    came = {met.place[1] for met in record.met}
    same = record.trace is None or (alike(record.trace) and not record.uncounted)
    return same and all(site.node in came for site in _collectives(facts, program))


def _collectives(facts: Facts, program: ProgramFacts) -> Iterator[Site]:
    for site in facts.calls_in(program.files, *horovod.MODULES):
        if isinstance(horovod.effect(site.name), Sends) and runs_in(facts, program, site.names, site.node):
            yield site


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
