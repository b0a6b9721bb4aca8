"""Where a statement stands among others: the block that holds it, and what is above and below it there."""

from __future__ import annotations

import ast

from hvdkit.source.index.names import Names

BLOCKS = ("body", "orelse", "finalbody", "handlers")


def block_of(names: Names, statement: ast.AST) -> list[ast.stmt]:
    """The list of statements, or of handlers, that holds one; empty where none does."""
    parent = names.parents.get(statement)
    for field in BLOCKS:
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def statements_above(names: Names, statement: ast.AST) -> list[ast.stmt]:
    """The statements before one in its block."""
    block = block_of(names, statement)
    return block[: block.index(statement)] if block else []  # type: ignore[arg-type]


def statements_below(names: Names, statement: ast.AST) -> list[ast.stmt]:
    """The statements after one in its block."""
    block = block_of(names, statement)
    return block[block.index(statement) + 1 :] if block else []  # type: ignore[arg-type]
