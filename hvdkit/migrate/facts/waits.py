"""Where a program already waits for its gradients: `optimizer.synchronize()` beside a statement."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate import edits
from hvdkit.migrate.facts.naming import optimizer_names
from hvdkit.migrate.facts.steps import Backward, Group
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


SKIP = "skip_synchronize"


def waiting_place(facts: Facts, backward: Backward, group: Group) -> tuple[Names, ast.Call]:
    """The call after which to wait: backward(), or its caller where the optimizer has no name beside it."""
    if optimizer_names(facts, backward.names, backward.call, [group]):
        return backward.names, backward.call
    return backward.where, backward.anchor


def reduced_below(facts: Facts, names: Names, call: ast.Call, group: Group) -> bool:
    """Whether the statements right below a call wait for these gradients."""
    statement = edits.following(names, names.statement(call))
    while statement is not None and _waits(statement):
        if _is_for(facts, names, statement, group):
            return True
        statement = edits.following(names, statement)
    return False


def reduced_above(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    """Whether the statement right above, or above its `skip_synchronize()`, waits for these gradients."""
    parent = names.parents[statement]
    if isinstance(parent, ast.With) and any(_is_call(item.context_expr, SKIP) for item in parent.items):
        statement = parent
    block = edits.block(names, statement)
    above = block[: block.index(statement)]
    return bool(above) and _waits(above[-1]) and _is_for(facts, names, above[-1], group)


def _waits(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _is_call(statement.value, "synchronize")


def skips(names: Names, call: ast.Call) -> bool:
    """Whether a step stands under skip_synchronize() already."""
    return any(
        _is_call(item.context_expr, SKIP)
        for parent in names.ancestors(call)
        if isinstance(parent, ast.With)
        for item in parent.items
    )


def _is_call(node: ast.expr, method: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == method


def _is_for(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    receiver = statement.value.func.value  # type: ignore[attr-defined]
    return bool(facts.flow.unwrap(facts.flow.values(names, receiver)) & group.optimizers)
