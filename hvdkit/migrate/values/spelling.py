"""How a value can be written at a place: the visible variable that holds it, or an attribute that does."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.values.flow import Flow
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names, Scope


def spelled(flow: Flow, names: Names, at: ast.expr | ast.stmt, wanted: Iterable[Value]) -> str | None:
    """A variable, bound above a node and visible there, that may hold one of the wanted values.

    The innermost scope comes first; in it a variable that holds nothing else, and the one bound last.
    """
    targets = set(wanted)
    scope: Scope | None = names.scope(at)
    while scope is not None:
        best: list[tuple[bool, int, str]] = []
        for name, bindings in scope.names.items():
            lines = [getattr(binding.node, "lineno", at.lineno) for binding in bindings]
            above = [line for line in lines if line <= at.lineno]
            held = flow.named(names, name, at) if above else frozenset()
            if held & targets:
                best.append((held <= targets, max(above), name))
        if best:
            return max(best)[2]
        scope = scope.parent
    return _attribute(flow, names, at, targets) or _held(flow, names, at, targets)


def _held(flow: Flow, names: Names, at: ast.expr | ast.stmt, targets: set[Value]) -> str | None:
    """`x.attribute` of a variable of the same function that is an object of one class of the project."""
    for name, bindings in names.scope(at).names.items():
        above = any(getattr(binding.node, "lineno", at.lineno) <= at.lineno for binding in bindings)
        objects = flow.named(names, name, at) if above and name.isidentifier() else frozenset()
        for owner in objects if len(objects) == 1 else ():
            if (attribute := attribute_holding(flow, owner, targets)) is not None:
                return f"{name}.{attribute}"
    return None


def attribute_holding(flow: Flow, owner: Value, targets: set[Value]) -> str | None:
    """The attribute of an object of the project's own that may hold one of the values."""
    for attribute, stores in owner.names.stores.items() if owner.kind == "object" and owner.names else ():
        for target, binding in stores:
            held = flow.bound(owner.names, binding) if attribute.isidentifier() else frozenset()
            if held & targets and flow.values(owner.names, target) == {owner}:
                return attribute
    return None


def _attribute(flow: Flow, names: Names, at: ast.expr | ast.stmt, targets: set[Value]) -> str | None:
    """`self.x`, in a method of the class that stores it or of one below, that may hold one of the values."""
    method = names.function(at)
    if method is None or not isinstance(names.parents.get(method), ast.ClassDef) or not method.args.args:
        return None
    me = method.args.args[0].arg
    owner = flow.named(names, me, at)
    related = [each for value in owner for each in flow.classes(value)]
    classes = {node for _, node in related}
    for where in dict.fromkeys([names, *(where for where, _ in related)]):
        for attribute, stores in where.stores.items():
            for target, binding in stores:
                held = flow.bound(where, binding) if attribute.isidentifier() else frozenset()
                holders = flow.values(where, target)
                if flow.unwrap(held) & targets and (
                    holders & owner or any(h.node in classes for h in holders)
                ):
                    return f"{me}.{attribute}"
    return None
