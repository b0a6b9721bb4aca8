"""When parameters are frozen and unfrozen: before the optimizer is made, or while the program trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.code.callers import in_own_function, on_every_way
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.parameter_roots import PARAMETERS
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Switch:
    """One place that sets requires_grad. value: True, False, or None when it is computed.

    models: whose parameters, wrappers removed; empty when that could not be followed. at: where the program
    does it, which for a helper function is its call. training: whether that is inside a training loop.
    """

    names: Names
    at: ast.expr
    value: bool | None
    models: frozenset[Value]
    training: bool


def switches(facts: Facts) -> Iterator[Switch]:
    """Every `x.requires_grad_(...)` and `p.requires_grad = ...`."""
    loops: set[ast.AST] = {loop.node for path in training_loops(facts).paths for loop in path.loops}
    for names, call, receiver in facts.methods("requires_grad_"):
        given = call.args[0] if call.args else next((k.value for k in call.keywords), None)
        value = given if given is not None else ast.Constant(True)
        yield from _switch(facts, names, call, receiver, value, loops)
    for names in facts.files:
        for target, binding in names.stores.get("requires_grad", ()):
            if binding.kind == "assign" and binding.value is not None and isinstance(target, ast.expr):
                yield from _switch(facts, names, target, target, binding.value, loops)


def _switch(
    facts: Facts, names: Names, at: ast.expr, thing: ast.expr, value: ast.expr, loops: set[ast.AST]
) -> Iterator[Switch]:
    models: set[Value] = set()
    for part in _owners(names, thing):
        models |= facts.flow.unwrap(facts.flow.values(names, part))
    kept = frozenset(model for model in models if model.kind in ("made", "object"))
    if isinstance(value, ast.Constant):
        yield Switch(names, at, bool(value.value), kept, in_loop(facts, names, at, loops))
        return
    function = names.function(at)
    if function is None:
        yield Switch(names, at, None, kept, in_loop(facts, names, at, loops))
        return
    for where, call in facts.flow.call_sites(names, function):
        given = passed(names, function, where, call, value.id) if isinstance(value, ast.Name) else None
        known = bool(given.value) if isinstance(given, ast.Constant) else None
        yield Switch(where, call, known, kept, in_loop(facts, where, call, loops))


def _owners(names: Names, thing: ast.expr) -> list[ast.expr]:
    """A module or parameter and what it is part of: net.fc.weight is part of net.fc and of net."""
    found: list[ast.expr] = []
    if isinstance(thing, ast.Name):
        for binding in names.bindings(thing.id, thing):
            if binding.kind == "each" and binding.value is not None:
                for part in ast.walk(binding.value):
                    if isinstance(part, ast.Attribute) and part.attr in PARAMETERS:
                        found += _owners(names, part.value)
    while True:
        found.append(thing)
        if not isinstance(thing, (ast.Attribute, ast.Subscript)):
            return found
        thing = thing.value


def in_loop(facts: Facts, names: Names, node: ast.AST, loops: set[ast.AST]) -> bool:
    """Whether a node runs only inside loops that train."""

    def at(where: Names, place: ast.AST) -> bool | None:
        return True if any(parent in loops for parent in in_own_function(where, place)) else None

    return on_every_way(facts, names, node, at)
