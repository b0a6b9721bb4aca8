"""Where a program already waits for its gradients: `optimizer.synchronize()` beside a statement."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hvdkit.migrate import edits
from hvdkit.migrate.facts.steps import Backward, Group
from hvdkit.migrate.names import Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts


def reduced_below(facts: Facts, backward: Backward, group: Group) -> bool:
    """Whether the statements right below a backward wait for these gradients."""
    names = backward.names
    statement = edits.following(names, names.statement(backward.call))
    while statement is not None and _waits(statement):
        if _is_for(facts, names, statement, group):
            return True
        statement = edits.following(names, statement)
    return False


def reduced_above(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    """Whether the statement right above waits for these gradients."""
    block = edits.block(names, statement)
    above = block[: block.index(statement)]
    return bool(above) and _waits(above[-1]) and _is_for(facts, names, above[-1], group)


def _waits(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "synchronize"


def _is_for(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> bool:
    receiver = statement.value.func.value  # type: ignore[attr-defined]
    return bool(facts.flow.unwrap(facts.flow.values(names, receiver)) & group.optimizers)
