"""Which assignments to an attribute a use may still read: not those that a later one always replaces."""

from __future__ import annotations

import ast

from hvdkit.migrate.values.binding_order import always_beside, remaining
from hvdkit.migrate.values.flow_questions import Asking
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Binding, Names

Stored = list[tuple[Names, Binding]]


def last_stored(flow: Asking, names: Names, use: ast.Attribute, stored: Stored) -> Stored:
    """The assignments that a use of an attribute may read, where one function makes all of them.

    `self.data = read()`, then `self.data = self.data.batch(8)`: only the second is what other methods read,
    and the first is what the second reads.
    """
    homes = {(where, where.function(binding.node)) for where, binding in stored}
    if len(stored) < 2 or len(homes) > 1 or len({_holder(binding) for _, binding in stored}) > 1:
        return stored
    where, function = next(iter(homes))
    if where is names and names.function(use) is function and ast.unparse(use.value) == _holder(stored[0][1]):
        loops: set[ast.AST] = {parent for parent in names.ancestors(use) if isinstance(parent, LOOPS)}
        above = [each for each in stored if _comes_before(names, each[1], use, loops)]
        return remaining(names, use, above) if above else stored
    return [each for each in stored if not _is_replaced(flow, where, function, each[1], stored)]


def _holder(binding: Binding) -> str:
    node = binding.node
    return ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""


def _comes_before(names: Names, binding: Binding, use: ast.Attribute, loops: set[ast.AST]) -> bool:
    statement = names.statement(binding.node)
    again = not loops.isdisjoint(names.ancestors(statement))
    return again or (statement.lineno < use.lineno and statement is not names.statement(use))


def _is_replaced(
    flow: Asking, names: Names, function: ast.AST | None, binding: Binding, stored: Stored
) -> bool:
    """Whether a later assignment of its function always follows one, before code elsewhere reads it."""
    first = names.statement(binding.node)
    for _, other in stored:
        then = names.statement(other.node)
        if then.lineno > first.lineno and always_beside(names, then, first):
            between = range(first.lineno, then.lineno + 1)
            around = [part for part in names.walk(function or names.source.tree) if _line(part) in between]
            if not any(isinstance(part, (ast.Return, *FUNCTIONS)) for part in around) and not any(
                isinstance(part, ast.Call) and flow.functions(names, part) for part in around
            ):
                return True
    return False


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
