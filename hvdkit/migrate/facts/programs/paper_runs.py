"""The paper job of each program, and which ranks come to a call in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Optional, cast

from hvdkit.conditions.objection import ranks_with
from hvdkit.conditions.orders import same_orders
from hvdkit.conditions.samples import are_sorted, passes_take_turns, take_turns
from hvdkit.conditions.writers import is_temporary, write_apart
from hvdkit.job.columns import RANKS, Value, columns
from hvdkit.job.record import Pass, Record, is_followed, is_trained
from hvdkit.job.run import CannotFollow, Run
from hvdkit.job.store import Module
from hvdkit.job.terms import within
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_with
from hvdkit.source.index.names import Names
from hvdkit.source.project.files import Project
from hvdkit.source.read.source import Unreadable, parse

Made = Callable[[Path, str], Optional[Module]]  # the module of a file, by its path and name


def record_of(facts: Facts, program: ProgramFacts) -> Record | None:
    """The record of a program's run; None where it could not be followed to its end."""
    found = _run_of(facts, program)
    return None if found is None else found[0].record


def _run_of(facts: Facts, program: ProgramFacts) -> tuple[Run, Made] | None:
    """A program's run. It is run again where an edit changed one of its files."""
    records = facts.project.records
    key = program.entry, program.files
    if key not in records:
        records[key] = _run(facts.project, program)
    return cast("tuple[Run, Made] | None", records[key])


def _run(project: Project, program: ProgramFacts) -> tuple[Run, Made] | None:
    modules: dict[Path, Module] = {}

    def made(path: Path, name: str) -> Module | None:
        if path not in modules:
            names = project.files.get(path)
            source = names.source if names is not None else parse(path, project.content(path))
            if isinstance(source, Unreadable):
                return None
            modules[path] = Module(name, names or path, source.tree)
        return modules[path]

    def find(name: str, importer: Module) -> Module | None:
        file = importer.file
        path = project.find(name, file.source.path if isinstance(file, Names) else Path(str(file)))
        return None if path is None else made(path, name)

    entry = made(program.entry.source.path, program.entry.source.path.stem)
    if entry is None:
        return None
    try:
        return Run(entry, find), made
    except (CannotFollow, RecursionError):
        return None


def functions_of(facts: Facts, program: ProgramFacts, names: Names) -> Record | None:
    """What the functions of a file do that a program with it does not call; None where that is not known."""
    records = facts.project.records
    key = program.entry, program.files, names
    if key not in records:
        records[key] = _call_functions(_run_of(facts, program), names)
    return cast("Record | None", records[key])


def _call_functions(found: tuple[Run, Made] | None, names: Names) -> Record | None:
    module = None if found is None else found[1](names.source.path, names.source.path.stem)
    if found is None or module is None:
        return None
    try:
        return found[0].functions_of(module)
    except (CannotFollow, RecursionError):
        return None


@once
def _records(facts: Facts, names: Names) -> list[Record]:
    """The records of all programs that have a file; none where one of them could not be followed."""
    records = [record_of(facts, program) for program in programs_with(facts, names)]
    found = [record for record in records if record is not None]
    return found if len(found) == len(records) else []


@once
def ranks_that_come(facts: Facts, names: Names, node: ast.AST) -> frozenset[int] | None:
    """The ranks of a job that come to a call, in any of the programs that have its file; None if not known.

    None, too, where a call of the function around it is one to which no run came.
    """
    found = _records(facts, names)
    if not found:
        return None
    if not any(node in record.came for record in found):
        dead = all(_never_runs(facts, record, names, node) for record in found)
        return frozenset() if dead or _is_named_nowhere(facts, names, node) else None
    if not _all_come(facts, found, names, node):
        return None
    return frozenset(rank for record in found for rank in _ranks(record, node))


@once
def all_ranks_come(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether each rank of a job of four is sure to come to a call, in all programs that have its file."""
    found = _records(facts, names)
    ways = [record.came.get(node, ()) for record in found]
    return bool(found) and all(any(all(map(_is_sure, way)) for way in each) for each in ways)


def _is_sure(condition: Value) -> bool:
    terms = [columns(condition)[rank] for rank in RANKS]
    return all(term.kind == "const" and bool(term.parts[0]) for term in terms)


@once
def writes_its_own(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether each process writes its own temporary file at a call, in all programs that come to it."""
    written = [each for record in _records(facts, names) for each in record.written if each.place[1] is node]
    return bool(written) and all(map(is_temporary, written))


@once
def ranks_write_apart(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether no two ranks write one file at a call, in all programs that come to it."""
    found = _records(facts, names)
    if not any(each.place[1] is node for record in found for each in record.written):
        return False
    return _all_come(facts, found, names, node) and all(write_apart(record, node) for record in found)


@once
def ranks_take_turns(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether the ranks take turns in what a loader that is made here loads, in all programs that make it."""
    made = [
        take_turns(loaded) or passes_take_turns(record, node)
        for record in _records(facts, names)
        for loaded in record.loaded
        if loaded.place[1] is node
    ]
    return bool(made) and all(made)


@once
def is_divided(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a sampler divides what a loader that is made here loads, in all programs that make it."""
    made = [each for record in _records(facts, names) for each in record.loaded if each.place[1] is node]
    return bool(made) and all(each.divides for each in made)


@once
def only_evaluates(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether programs that train run over a loader that is made here, and train by no loss of it."""
    found = _records(facts, names)
    passes = [(record, each) for record in found for each in record.passes if each.loader.parts[1] is node]
    if not passes or not all(record.trained and is_followed(record) for record, _ in passes):
        return False
    return not any(is_trained(record, each) for record, each in passes)


@once
def orders_differ(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether each pass of a training over a loader that is made here has another order, in all programs."""
    found = _records(facts, names)
    passes = [
        each
        for record in found
        for each in record.passes
        if each.loader.parts[1] is node and is_trained(record, each)
    ]
    drawn = all(each.epoch is not None and _is_given(each) for each in passes)
    return bool(passes) and drawn and not any(any(same_orders(record)) for record in found)


def _is_given(found: Pass) -> bool:
    """Whether what the order of a pass is drawn from changes with the loops around it."""
    terms = () if found.epoch is None else within(columns(found.epoch)[-1])
    return any(term.kind in ("each", "turn") and term.parts[0] in found.loops for term in terms)


def loads_sorted(facts: Facts, program: ProgramFacts, node: ast.AST) -> bool:
    """Whether a program loads what a call lists, and sorts it first."""
    record = record_of(facts, program)
    return record is not None and are_sorted(record, node)


def _ranks(record: Record, node: ast.AST) -> Iterator[int]:
    """The ranks that come to a call; of one that may call several things, those that write a file there."""
    written = [each for each in record.written if each.place[1] is node]
    for each in written:
        yield from (rank - RANKS[0] for rank in ranks_with(each.active))
    if written:
        return
    for path, gate in record.came.get(node, ()):
        for rank in RANKS:
            conditions = (columns(path)[rank], columns(gate)[rank])
            if not any(condition.kind == "const" and not condition.parts[0] for condition in conditions):
                yield rank - RANKS[0]


def _all_come(facts: Facts, records: list[Record], names: Names, node: ast.AST) -> bool:
    """Whether a run came to each call of the function around a node, and so on outwards."""
    seen: set[ast.AST] = set()
    waiting = [(names, node)]
    while waiting:
        where, inner = waiting.pop()
        function = where.function(inner)
        if function is None or function in seen:
            continue
        seen.add(function)
        sites = facts.flow.call_sites(where, function)
        if any(all(call not in record.came for record in records) for _, call in sites):
            return False
        waiting += sites
    return True


def _never_runs(facts: Facts, record: Record, names: Names, node: ast.AST) -> bool:
    """Whether a run had all code around a call and did not come to it.

    Not of what a library or a text of the program may lead to, nor of a handler: not each error is seen.
    """
    if any(isinstance(parent, ast.ExceptHandler) for parent in names.ancestors(node)):
        return False
    function = names.function(node)
    if names.source.tree not in record.ran or function in record.escaped:
        return False
    if function is None or function in record.ran:
        return True
    name = getattr(function, "name", "__")  # a lambda has none
    return not name.startswith("__") and not any(file.texts.get(name) for file in facts.files)


def _is_named_nowhere(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a call is in a function of a file that no name, attribute or text of the project means."""
    function = names.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.decorator_list:
        return False
    if function not in names.source.tree.body:
        return False
    return not any(
        file.uses.get(function.name) or file.attributes.get(function.name) or file.texts.get(function.name)
        for file in facts.files
    )
