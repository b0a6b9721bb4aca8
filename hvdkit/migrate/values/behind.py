"""What is inside an expression, and inside what is assigned to the variables in it, each part once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.source.index.names import Names, Scope


def parts_behind(names: Names, node: ast.AST) -> Iterator[ast.AST]:
    """Every part of an expression, and of the assignments of one file that its variables may hold.

    A variable is followed once, however many assignments lead back to it.
    """
    seen: set[tuple[Scope | None, str]] = set()
    waiting = [node]
    while waiting:
        for part in ast.walk(waiting.pop()):
            yield part
            if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load):
                continue
            variable = names.scope(part).owner(part.id), part.id
            if variable not in seen:
                seen.add(variable)
                bindings = names.bindings(part.id, part)
                waiting += [b.value for b in bindings if b.kind == "assign" and b.value is not None]
