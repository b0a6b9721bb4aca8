"""What runs with a node: without the functions that are defined inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.source.index.names import FUNCTIONS, children


def walk_here(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what runs with it: functions defined inside are left out."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            waiting += children(part)
