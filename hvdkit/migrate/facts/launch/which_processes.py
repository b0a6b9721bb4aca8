"""Which processes run some code: those that come to it where its programs run on paper."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import IntEnum

from hvdkit.job.columns import RANKS, Split, Value, alike, columns
from hvdkit.job.knowledge import Knowledge
from hvdkit.job.record import Record, Way
from hvdkit.job.terms import conjuncts, within
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.paper_runs import functions_of, ranks_that_come, record_of
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.migrate.facts.programs.reached_code import run_alone, runs_in
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import FUNCTIONS, Names

NO_ERRORS = ("KeyboardInterrupt", "SystemExit", "GeneratorExit")
OF_HOSTS = frozenset((0, 2))  # the ranks that are the first of their hosts


class Where(IntEnum):
    """The processes that reach some code."""

    ALL = 0
    ONE_PER_NODE = 1
    RANK_0 = 2


def where_runs(
    facts: Facts, names: Names, node: ast.AST, training: bool = False, within: ProgramFacts | None = None
) -> Where:
    """The processes that reach a node; with `training` in programs that train, if any of its programs does.

    within: the program whose processes are meant; else those of all programs.
    """
    if run_alone(facts, names, node):
        return Where.RANK_0
    programs = programs_with(facts, names) if within is None else [within]
    if training:
        programs = [program for program in programs if training_paths(facts, program)] or programs
    ranks = _ranks_of(facts, names, node, tuple(programs))
    if not ranks or not ranks <= OF_HOSTS:
        return Where.ALL
    return Where.RANK_0 if ranks == {0} else Where.ONE_PER_NODE


def no_rank_comes(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether no rank of a job runs a node: only a single process does, or none at all."""
    none = frozenset[int]()
    programs = tuple(programs_with(facts, names))
    return _ranks_of(facts, names, node, programs) == none or ranks_that_come(facts, names, node) == none


def all_come_together(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether on each way to a node all ranks come, or none: a place for a collective."""
    found = _ways(facts, names, node, tuple(programs_with(facts, names)))
    return bool(found) and all(alike(part) and not _is_given(part) for _, way in found or () for part in way)


def _is_given(condition: Value) -> bool:
    """Whether a condition is about what something unknown gave a function: that may be a rank."""
    tests = (test for term in {*columns(condition)} for test in conjuncts(term) if test.kind != "called")
    return any(part.kind == "parameter" for test in tests for part in within(test))


def asks_for_process(facts: Facts, names: Names, choice: ast.If) -> bool:
    """Whether processes differ in the way that they take at an `if`, a lone one from those of a job too."""
    programs = tuple(programs_with(facts, names))
    before, inside = (_ways(facts, names, each, programs) or [] for each in (choice, choice.body[0]))
    return any(map(_differs, inside)) and not any(map(_differs, before))


def _differs(found: tuple[Record, Way]) -> bool:
    return any(isinstance(condition, Split) for condition in found[1])


@once
def _ranks_of(
    facts: Facts, names: Names, node: ast.AST, programs: tuple[ProgramFacts, ...]
) -> frozenset[int] | None:
    """The ranks that come to a node in programs; None where no run shows it."""
    found = _ways(facts, names, node, programs)
    if not found:
        return None
    return frozenset(
        rank - RANKS[0]
        for record, way in found
        for rank in RANKS
        if not any(_in_job(facts, record, rank).truth(columns(part)[rank]) is False for part in way)
    )


@once
def _in_job(facts: Facts, record: Record, rank: int) -> Knowledge:
    """What holds for a rank wherever a job is started: that it has come to what starts it."""
    knowledge = Knowledge()
    found = [
        {**knowledge.assuming_that(columns(path)[rank]), **knowledge.assuming_that(columns(gate)[rank])}
        for site in facts.calls(words.INIT)
        for path, gate in record.came.get(site.node, ())
    ]
    first = found[0] if found else {}
    knowledge.assumed = {
        term: truth for term, truth in first.items() if all(each.get(term) is truth for each in found)
    }
    return knowledge


@once
def _ways(
    facts: Facts, names: Names, node: ast.AST, programs: tuple[ProgramFacts, ...]
) -> list[tuple[Record, Way]] | None:
    """The ways to a node, in programs and in functions that they do not call; None if that is not known."""
    records = [record_of(facts, program) for program in programs]
    followed = [record for record in records if record is not None]
    if len(followed) < len(records):
        return None
    for where in {*_not_reached(facts, programs, followed, names, node)}:
        others = [functions_of(facts, program, where) for program in programs if where in program.files]
        if None in others:
            return None
        followed += [record for record in others if record is not None]
    return [(record, way) for record in followed for way in _came(record, names, node)]


def _came(record: Record, names: Names, node: ast.AST) -> Sequence[Way]:
    """The ways on which a run came to a node: those to the call or statement that it is in."""
    for part in (node, *names.ancestors(node)):
        if part in record.came:
            return record.came[part]
        if isinstance(part, (ast.stmt, *FUNCTIONS)):
            break
    return ()


def _not_reached(
    facts: Facts,
    programs: Sequence[ProgramFacts],
    records: Sequence[Record],
    names: Names,
    node: ast.AST,
) -> Iterator[Names]:
    """The files in which a run did not come to a node, or to a call of the function around it, and so on."""
    seen: set[ast.AST] = set()
    waiting = [(names, node)]
    while waiting:
        where, inner = waiting.pop()
        if not any(_came(record, where, inner) for record in records):
            yield where
        function = where.function(inner)
        if function is not None and function not in seen:
            seen.add(function)
            sites = facts.flow.call_sites(where, function)
            waiting += [each for each in sites if any(runs_in(facts, one, *each) for one in programs)]


def caught(names: Names, node: ast.AST) -> bool:
    """Whether an error of a node is dealt with by a `try` around it: not by one for Ctrl-C."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.Try) and child in parent.body and any(map(_for_errors, parent.handlers)):
            return True
        child = parent
    return False


def _for_errors(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or getattr(kind, "id", "") not in NO_ERRORS for kind in kinds)
