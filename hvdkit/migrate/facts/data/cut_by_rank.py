"""What is cut by the rank: `cases[rank::size]` and `range(rank, n, size)`, not as long on every rank."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.source.index.names import Names


def is_rank_share(facts: Facts, names: Names, things: ast.expr) -> bool:
    """Whether an expression is made from a slice or a range that begins at the rank, by any variables."""
    waiting, seen = [things], {things}
    while waiting:
        for part in names.walk(waiting.pop()):
            begin = _begin(part)
            if begin is not None and rank_kinds(facts).inside(names, begin):
                return True
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                bindings = names.bindings(part.id, part)
                given = {b.value for b in bindings if b.kind == "assign" and b.value is not None} - seen
                seen |= given
                waiting += given
    return False


def _begin(node: ast.AST) -> ast.expr | None:
    """Where a slice or a range with a step begins."""
    if isinstance(node, ast.Slice) and node.step is not None:
        return node.lower
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range" and len(node.args) == 3:
        return node.args[0]
    return None
