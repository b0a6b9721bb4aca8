"""Where a program takes the files of a folder in the order of the file system, which is another on each host.

A sampler divides samples by their numbers, and so does a split: with another order of the same files two
hosts train on some samples twice, on others never, and on what the other one holds back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.data.sample_code import is_dataset, reads_sample
from hvdkit.migrate.facts.data.set_orders import keeps_order
from hvdkit.migrate.facts.data.training_loaders import training_loaders
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.index.names import Names

LISTS = ("os.listdir", "glob.glob", "glob.iglob")
OF_PATHS = ("iterdir", "glob", "rglob")
PATHS = ("pathlib.Path", "pathlib.PosixPath")
MAX_CALLERS = 3


def folder_orders(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.Call]]:
    """The listings by whose order a program numbers samples: in a data set, or for what it is made of."""
    if program.kind == "ddp":
        return  # its hosts number them apart already
    listings = {
        call: names
        for names, call in _listings(facts)
        if names in program.files and not _is_ordered(names, call) and runs_in(facts, program, names, call)
    }
    if not listings:
        return
    search = _Listed(facts, set(listings))
    for loader in training_loaders(facts, program):
        if loader.dataset is not None:
            search.holds(loader.names, loader.dataset)
    for names, made in _datasets_made(facts):
        if names in program.files:
            for argument in (*made.args, *(item.value for item in made.keywords)):
                search.holds(names, argument)
    for call, names in listings.items():
        if call in search.found or _in_dataset(facts, names, call):
            yield names, call


def _listings(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    yield from ((site.names, site.node) for site in facts.calls(*LISTS))
    for method in OF_PATHS:
        for names, call, receiver in facts.methods(method):
            if any(value.name in PATHS for value in facts.flow.values(names, receiver)):
                yield names, call


def _datasets_made(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """The calls that make data sets of the project's own classes."""
    for names in facts.files:
        for owner in names.of_kind(ast.ClassDef):
            if is_dataset(facts, names, owner):
                for where in facts.files:
                    yield from ((where, call) for call in where.calls.get(owner.name, ()))


class _Listed(Dependence):
    """The listings that something is made of."""

    def __init__(self, facts: Facts, listings: set[ast.Call]) -> None:
        super().__init__(facts)
        self._listings = listings
        self.found: set[ast.AST] = set()

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if part in self._listings:
            self.found.add(part)
        return None  # there may be others


def _in_dataset(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> bool:
    """Whether a node runs while a data set is made: in one of its methods, or in what they call."""
    function = names.function(node)
    if function is None or depth > MAX_CALLERS or reads_sample(facts, names, node):
        return False
    owner = names.parents.get(function)
    if isinstance(owner, ast.ClassDef) and is_dataset(facts, names, owner):
        return True
    sites = facts.flow.call_sites(names, function)
    return any(_in_dataset(facts, where, call, depth + 1) for where, call in sites)


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
    return bool(_holders(names, statement) & _sorted_later(names, statement))


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
