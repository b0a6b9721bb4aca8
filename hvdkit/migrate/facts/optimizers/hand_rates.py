"""What a step by hand multiplies gradients with, and whether each rank would come to a number of its own.

`p.data.add_(p.grad, alpha=-lr)` takes the same step on all ranks only while all have the same `lr`: not where
a script lowers it by a loss, which is another one on each rank.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.collectives.dependence import bindings_of, from_callers, tests_above
from hvdkit.migrate.facts.collectives.different_on_every_rank import is_computed, of_own_numbers
from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Binding, Names


@dataclass(frozen=True)
class OwnRate:
    """A variable in a step. test: a test of each rank's own numbers that decides it; None where it is one."""

    names: Names
    name: str
    test: ast.expr | None


def own_rates(facts: Facts, names: Names, statement: ast.stmt) -> Iterator[OwnRate]:
    """The variables in a step, and the tests around it, that depend on numbers of each rank's own."""
    for test in tests_above(names, statement):
        if of_own_numbers(facts, names, test):
            yield OwnRate(names, names.source.segment(test), None)
    seen: set[ast.AST] = set()
    for part in _read(names, statement):
        yield from _own(facts, names, part, seen)


def _read(names: Names, node: ast.AST) -> Iterator[ast.expr]:
    """The variables and attributes that a step reads, but for its parameters and their gradients."""
    stepped = {
        part.value.id
        for part in names.walk(node)
        if isinstance(part, ast.Attribute) and part.attr == "grad" and isinstance(part.value, ast.Name)
    }
    for part in names.walk(node):
        own = isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self"
        read = isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in stepped
        if own or read:
            yield part  # type: ignore[misc]


def _own(facts: Facts, names: Names, part: ast.expr, seen: set[ast.AST]) -> Iterator[OwnRate]:
    for where, binding in bindings_of(facts, names, part):
        if binding.node in seen:
            continue
        seen.add(binding.node)
        text = names.source.segment(part)
        for test in tests_above(where, binding.node):
            if of_own_numbers(facts, where, test):
                yield OwnRate(where, text, test)
        for file, value in _values(facts, where, binding):
            if any(is_computed(facts, file, call) for call in file.calls_in(value)):
                yield OwnRate(file, text, None)
            for inner in _read(file, value):
                yield from _own(facts, file, inner, seen)


def _values(facts: Facts, names: Names, binding: Binding) -> Iterator[tuple[Names, ast.expr]]:
    """What a binding gives: the value, what is added, what the loop goes over, or what the callers pass."""
    changed = names.parents.get(binding.node)
    if isinstance(changed, ast.AugAssign):
        yield names, changed.value
    elif binding.kind == "param" and isinstance(binding.node, ast.arg):
        yield from from_callers(facts, names, binding.node)
    elif binding.value is not None:
        yield names, binding.value
