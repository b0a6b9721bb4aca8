"""What samples are made from, and which of some calls that goes back to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.migrate.facts.code.callers import on_some_way
from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.data.sample_code import is_dataset, reads_sample
from hvdkit.migrate.facts.data.training_loaders import training_loaders
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once_all
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.source.index.names import Names

Samples = Iterable[tuple[Names, ast.expr]]


def dataset_sources(facts: Facts, program: ProgramFacts) -> Iterator[tuple[Names, ast.expr]]:
    """What PyTorch's data sets are made of: those of its loaders, and arguments of its own classes."""
    for loader in training_loaders(facts, program):
        if loader.dataset is not None:
            yield loader.names, loader.dataset
    for names, made in _datasets_made(facts):
        if names in program.files:
            for argument in (*made.args, *(item.value for item in made.keywords)):
                yield names, argument


def calls_behind(
    facts: Facts, calls: dict[ast.Call, Names], samples: Samples
) -> list[tuple[Names, ast.Call]]:
    """Those of some calls that samples are made from, or that run while a data set is made."""
    if not calls:
        return []
    search = _MadeFrom(facts, calls)
    for names, expression in samples:
        search.holds(names, expression)
    return [
        (names, call)
        for call, names in calls.items()
        if call in search.found or _in_dataset(facts, names, call)
    ]


class _MadeFrom(Dependence):
    """The calls that something is made of."""

    def __init__(self, facts: Facts, calls: dict[ast.Call, Names]) -> None:
        super().__init__(facts)
        self._calls = calls
        self.found: set[ast.AST] = set()

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if part in self._calls:
            self.found.add(part)
        return None  # there may be others


@once_all
def _datasets_made(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """The calls that make data sets of the project's own classes."""
    for names in facts.files:
        for owner in names.of_kind(ast.ClassDef):
            if is_dataset(facts, names, owner):
                for where in facts.files:
                    yield from ((where, call) for call in where.calls.get(owner.name, ()))


def _in_dataset(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node runs while a data set is made: in one of its methods, or in what they call."""

    def at(where: Names, place: ast.AST) -> bool | None:
        function = where.function(place)
        if function is None or reads_sample(facts, where, place):
            return False
        owner = where.parents.get(function)
        return True if isinstance(owner, ast.ClassDef) and is_dataset(facts, where, owner) else None

    return on_some_way(facts, names, node, at)
