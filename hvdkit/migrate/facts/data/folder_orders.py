"""Where a program takes the files of a folder in the order of the file system, which is another on each host.

A sampler divides samples by their numbers, and so does a split: with another order of the same files two
hosts train on some samples twice, on others never, and on what the other one holds back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.data.made_from import Samples, calls_behind
from hvdkit.migrate.facts.data.set_orders import keeps_order
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.paper_runs import loads_sorted
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.source.index.names import Names

WALK = "os.walk"  # gives folders, each with a list of its files: nothing around it sorts both
LISTS = (
    "os.listdir",
    "glob.glob",
    "glob.iglob",
    "imutils.paths.list_images",
    "tensorflow.io.gfile.glob",
    "tensorflow.io.gfile.listdir",
    WALK,
)
OF_PATHS = ("iterdir", "glob", "rglob")
PATHS = ("pathlib.Path", "pathlib.PosixPath")


def folder_orders(facts: Facts, program: ProgramFacts, samples: Samples) -> list[tuple[Names, ast.Call]]:
    """The listings by whose order a program numbers its samples, or what they are made of."""
    if program.kind == "ddp":
        return []  # its hosts number them apart already
    listings = {
        call: names
        for names, call in _listings(facts)
        if names in program.files and not _is_ordered(names, call) and runs_in(facts, program, names, call)
        if not loads_sorted(facts, program, call)
    }
    return calls_behind(facts, listings, samples)


def _listings(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    yield from ((site.names, site.node) for site in facts.calls(*LISTS))
    for method in OF_PATHS:
        for names, call, receiver in facts.methods(method):
            if any(value.name in PATHS for value in facts.flow.values(names, receiver)):
                yield names, call


def _is_ordered(names: Names, call: ast.Call) -> bool:
    """Whether what is listed is sorted, there or later, or its order cannot be seen."""
    if not keeps_order(names, call):
        return True
    statement = names.statement(call)
    around = [parent for parent in names.ancestors(call) if isinstance(parent, (ast.Call, ast.Compare))]
    around = [parent for parent in around if parent in set(names.walk(statement))]
    if any(_sorts(parent) for parent in around if isinstance(parent, ast.Call)):
        return True
    parent = names.parents[call]
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        return True
    if not sortable(names, call) and isinstance(statement, ast.For):
        return any(_sorts(inside) for part in statement.body for inside in names.calls_in(part))
    return bool(_holders(names, statement) & _sorted_later(names, statement))


def sortable(names: Names, call: ast.Call) -> bool:
    """Whether `sorted()` around a listing is enough."""
    return WALK not in names.qualified(call.func)


def _sorts(call: ast.Call) -> bool:
    return "sort" in getattr(call.func, "attr", getattr(call.func, "id", ""))


def _holders(names: Names, statement: ast.stmt) -> set[str]:
    """What holds the files: the variable of an assignment, or the lists that a loop over them fills."""
    if isinstance(statement, ast.Assign):
        return {ast.unparse(target) for target in statement.targets}
    if not isinstance(statement, ast.For):
        return set()
    calls = (call.func for part in statement.body for call in names.calls_in(part))
    return {ast.unparse(f.value) for f in calls if isinstance(f, ast.Attribute) and f.attr == "append"}


def _sorted_later(names: Names, statement: ast.stmt) -> set[str]:
    """What is sorted in the same function: `files.sort()`, `files = sorted(files)`."""
    found: set[str] = set()
    for call in names.calls_in(names.function(statement) or names.source.tree):
        if _sorts(call):
            found |= {ast.unparse(given) for given in call.args[:1]}
            found |= {ast.unparse(call.func.value)} if isinstance(call.func, ast.Attribute) else set()
    return found
