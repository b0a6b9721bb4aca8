"""Functions and classes of the project that nothing mentions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.source.index.names import Names

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def unused(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node stands in a module's function or class whose name stands nowhere else."""
    definition = outermost(names, node)
    if definition is None or definition.decorator_list:
        return False
    return _unmentioned(facts, names, definition)


@once
def _unmentioned(facts: Facts, names: Names, definition: Definition) -> bool:
    taken = facts.project.taken_where_passed_over(names.source.path, definition.name)
    return not taken and next(mentions_of(facts, names, definition), None) is None


def outermost(names: Names, node: ast.AST) -> Definition | None:
    """The module's own function or class in which a node stands."""
    definition = None
    for parent in names.ancestors(node):
        definition = parent if isinstance(parent, _DEFINITIONS) else definition
    return definition


def mentions_of(facts: Facts, names: Names, definition: Definition) -> Iterator[tuple[Names, ast.AST]]:
    """Every place where the name of a function or class stands, its own body and strings in it left out."""
    inside = set(names.walk(definition))
    name = definition.name
    for where in facts.files:
        for bindings in (scope.names.get(name, ()) for scope in list(where.scopes.values())):
            yield from ((where, b.node) for b in bindings if isinstance(b.node, ast.alias))
        for use in (*where.uses.get(name, ()), *where.attributes.get(name, ()), *where.texts.get(name, ())):
            if use not in inside:
                yield where, use
