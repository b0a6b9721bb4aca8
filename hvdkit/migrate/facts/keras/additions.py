"""Where gradients are added up before an optimizer applies the sum: what is added into which container."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Binding, Names

ASSIGNS = ("assign", "assign_add", "assign_sub")
METHODS = (*ASSIGNS, "append", "extend")


@dataclass(frozen=True)
class Addition:
    """`sums[i].assign_add(part)`, `sums[i] += part`, `sums.append(part)`. into: what sums may be."""

    names: Names
    into: frozenset[Value]
    part: ast.expr


@once
def additions(facts: Facts) -> tuple[Addition, ...]:
    """Everything that is added into a list, or into one of its elements, in TensorFlow's files."""
    found = []
    for names in tensorflow_files(facts):
        for target, part in _additions(names):
            into = container(facts, names, target)
            if into:
                found.append(Addition(names, into, part))
    return tuple(found)


def _additions(names: Names) -> Iterator[tuple[ast.expr, ast.expr]]:
    for method in METHODS:
        for call in names.calls.get(method, ()):
            if isinstance(call.func, ast.Attribute) and call.args:
                yield call.func.value, call.args[0]
    for node in names.of_kind(ast.AugAssign, ast.Assign):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            yield node.target, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            yield node.targets[0], node.value


def container(facts: Facts, names: Names, node: ast.expr) -> frozenset[Value]:
    """What holds an element: the list that `s` runs over, `sums` of `sums[i]`; a list itself."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return facts.flow.values(names, node) | facts.flow.values(names, held_in(names, node))


def held_in(names: Names, node: ast.expr) -> ast.expr:
    """The collection that a loop variable runs over; any other expression itself."""
    for binding in names.bindings(node.id, node) if isinstance(node, ast.Name) else ():
        over = iterated(binding) if binding.kind == "each" else None
        if over is not None:
            return over
    return node


def iterated(binding: Binding) -> ast.expr | None:
    """The collection that a loop variable runs over, through zip, enumerate and list."""
    node, path = binding.value, binding.path
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        called = node.func.id
        if called == "zip" and path and path[0] < len(node.args):
            node, path = node.args[path[0]], path[1:]
        elif called == "enumerate" and path and path[0] == 1:
            node, path = node.args[0], path[1:]
        elif called in ("list", "tuple", "reversed"):
            node = node.args[0]
        else:
            break
    return node
