"""Backward passes of a function that run one after another before its caller can wait for them.

Horovod's hooks stop at a second pass through parameters that are still under way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hvdkit.migrate.facts.models.step_groups import Backward
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def runs_repeatedly(backward: Backward, beside: Iterable[Backward]) -> bool:
    """Whether the function of a pass runs it several times, or another one of the same call as well."""
    names, call = backward.names, backward.call
    if call is backward.anchor:
        return False
    if any(isinstance(parent, LOOPS) for parent in _inside(names, call)):
        return True
    return any(
        other.call is not call
        and other.anchor is backward.anchor
        and other.names is names
        and names.function(other.call) is names.function(call)
        and not _never_both(names, call, other.call)
        for other in beside
    )


def _inside(names: Names, node: ast.AST) -> list[ast.AST]:
    """The nodes around one, up to its function."""
    found: list[ast.AST] = []
    for parent in names.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        found.append(parent)
    return found


def _never_both(names: Names, one: ast.Call, other: ast.Call) -> bool:
    """Whether a run makes one of two calls alone: in branches apart, or in one that leaves the function."""
    first, second = sorted((one, other), key=lambda call: (call.lineno, call.col_offset))
    below = {id(node) for node in (second, *_inside(names, second))}
    child: ast.AST = first
    for parent in _inside(names, first):
        if isinstance(parent, ast.If) and child is not parent.test:
            branch = parent.body if child in parent.body else parent.orelse
            if id(parent) not in below:
                if isinstance(branch[-1], _LEAVES):
                    return True
            elif not any(id(statement) in below for statement in branch):
                return True
        child = parent
    return False
