"""Where a program uses something of a library: called, handed on, derived from or decorated with.

An annotation, an isinstance test and the import itself use nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import Names


def mentions(facts: Facts, wanted: tuple[str, ...]) -> Iterator[tuple[Names, ast.expr, str, str]]:
    """Uses of library objects: file, expression, qualified name, and which of `wanted` it matches.

    wanted: qualified names; a trailing dot means everything below.
    """
    tops = {name.partition(".")[0] for name in wanted}
    for names in facts.files:
        for alias in sorted(set().union(*map(names.imported, tops))):
            for whole, qualified in names.readings(alias):
                if qualified.startswith(wanted):
                    match = next((name for name in wanted if _matches(qualified, name)), None)
                    if match is not None and _is_use(names, whole):
                        yield names, whole, qualified, match


def _matches(qualified: str, name: str) -> bool:
    if name.endswith("."):
        return qualified.startswith(name)
    return qualified == name or qualified.startswith(f"{name}.")


def _is_use(names: Names, node: ast.expr) -> bool:
    child: ast.AST = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.Call):
            asks = isinstance(parent.func, ast.Name) and parent.func.id in ("isinstance", "issubclass")
            return not (asks and child is not parent.func)
        if isinstance(parent, ast.arg) or child is getattr(parent, "returns", None):
            return False
        if isinstance(parent, ast.AnnAssign) and child is parent.annotation:
            return False
        if isinstance(parent, (ast.stmt, ast.Lambda)):
            # `DDP = FSDP` or `FSDP` alone: the name on its left is followed to its own uses.
            return not (isinstance(parent, ast.Assign) and parent.value is node)
        child = parent
    return True
