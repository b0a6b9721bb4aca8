"""Functions and classes of the project that nothing mentions, or nothing but calls that go."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Union

from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def unused(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether a node stands in a module's function or class whose name stands nowhere else."""
    outermost = None
    for parent in names.ancestors(node):
        outermost = parent if isinstance(parent, _DEFINITIONS) else outermost
    if outermost is None or outermost.decorator_list:
        return False
    key = (unused, outermost)
    if key not in facts.answers:
        taken = facts.project.taken_where_passed_over(names.source.path, outermost.name)
        facts.answers[key] = not taken and next(mentions_of(facts, names, outermost), None) is None
    return bool(facts.answers[key])


def unused_without(facts: Facts, names: Names, function: ast.FunctionDef, gone: Collection[ast.Call]) -> bool:
    """Whether a module's function has no use left, its imports included, when calls of it are gone."""
    if names.parents[function] is not names.source.tree or function.decorator_list:
        return False
    if facts.project.taken_where_passed_over(names.source.path, function.name):
        return False
    called = {call.func for call in gone}
    calling: set[Names] = set()
    importing: set[Names] = set()
    for where, node in mentions_of(facts, names, function):
        if isinstance(node, ast.alias):
            importing.add(where)
            if node.asname or not _goes(where, node):
                return False
        elif node in called:
            calling.add(where)
        else:
            return False
    return importing <= calling


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


def _goes(names: Names, alias: ast.alias) -> bool:
    """Whether an import goes when its name has no use left."""
    plain = names.parents[names.parents[alias]] is names.source.tree
    return plain and names.source.path.name != "__init__.py" and "__all__" not in names.module.names
