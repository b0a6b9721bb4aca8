"""Loops that compute something of the training data itself: class weights, a mean, a vocabulary."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

COLLECTS = frozenset(("add", "append", "extend", "update"))


def counting_loops(facts: Facts, loaders: Iterable[Value]) -> Iterator[tuple[Names, ast.For]]:
    """Loops over one of the loaders that add something up, and run no model: a share gives another result."""
    wanted = set(loaders)
    training = {loop.node for path in training_loops(facts).paths for loop in path.loops}
    for names in facts.files if wanted else ():
        for node in names.of_kind(ast.For):
            if node not in training and _adds_up(names, node):
                if _runs_over(facts, names, node.iter, wanted):
                    yield names, node


def _runs_over(facts: Facts, names: Names, iterated: ast.expr, loaders: set[Value]) -> bool:
    """Whether a loop goes through a loader, or what such as tqdm(loader) gives; not through a batch."""
    for node in ast.walk(iterated):
        values = facts.flow.values(names, node) if isinstance(node, (ast.Name, ast.Attribute)) else ()
        for value in values:
            given = value.node.args[:1] if isinstance(value.node, ast.Call) and value.kind == "made" else []
            if value in loaders or any(loaders & facts.flow.values(value.names, arg) for arg in given):
                return True
    return False


def _adds_up(names: Names, loop: ast.For) -> bool:
    """Whether a loop, gone through to its end, adds to what was there before, by its batches alone."""
    parts = [part for statement in loop.body for part in names.walk(statement)]
    stores = [part for part in (*names.walk(loop.target), *parts) if isinstance(part, ast.Name)]
    inside = {part.id for part in stores if isinstance(part.ctx, ast.Store)}
    added = [part.target for part in parts if isinstance(part, ast.AugAssign)]
    sums = {target.id for target in added if isinstance(target, ast.Name)}
    calls = [part for part in parts if isinstance(part, ast.Call)]
    collected = {name for call in calls if (name := _collects_in(call)) is not None}
    inside -= sums
    return (
        bool(sums | (collected - inside))
        and not any(isinstance(part, (ast.Break, ast.Return, ast.Yield)) for part in parts)
        and all(_of_the_batch(names, call, inside | collected) for call in calls)
    )


def _collects_in(call: ast.Call) -> str | None:
    """The list of `list.append(x)`."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in COLLECTS:
        return function.value.id if isinstance(function.value, ast.Name) else None
    return None


def _of_the_batch(names: Names, call: ast.Call, inside: set[str]) -> bool:
    """Whether a call is a library's function, a builtin, or a method of what the loop has from its batch."""
    function = call.func
    if names.qualified(function):
        return True
    if isinstance(function, ast.Name):
        return not names.bindings(function.id, function)
    while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
        function = function.func if isinstance(function, ast.Call) else function.value
    return not isinstance(function, ast.Name) or function.id in inside or bool(names.qualified(function))
