"""Which of two places in a function runs first, and whether it always does."""

from __future__ import annotations

import ast

from hvdkit.source.index import statements
from hvdkit.source.index.names import FUNCTIONS, Names


def block_of(names: Names, node: ast.AST) -> list[ast.stmt]:
    """The block that a node's statement stands in."""
    statement = names.statement(node)
    return statements.block_of(names, statement) or [statement]


def between(names: Names, first: ast.AST, second: ast.AST) -> list[ast.stmt] | None:
    """The statements between two nodes of one block, in which the first comes before; None otherwise."""
    block = block_of(names, second)
    above, below = names.statement(first), names.statement(second)
    if above not in block or above is below or block.index(above) > block.index(below):
        return None
    return block[block.index(above) + 1 : block.index(below)]


def always_before(names: Names, first: ast.AST, second: ast.AST) -> bool:
    """Whether a node has run whenever another of its function does: it stands above, under no test."""
    return names.function(first) is names.function(second) and _above(names, first, second, (ast.With,))


def maybe_before(names: Names, first: ast.AST, second: ast.AST) -> bool:
    """Whether a node may have run when another of its function does: it stands above, in no other branch."""
    around = (ast.With, ast.If, ast.For, ast.While, ast.Try)
    return names.function(first) is names.function(second) and _above(names, first, second, around)


def _above(names: Names, first: ast.AST, second: ast.AST, around: tuple[type, ...]) -> bool:
    above = names.statement(first)
    chain = {names.statement(second), *(p for p in names.ancestors(second) if isinstance(p, ast.stmt))}
    while True:
        block = block_of(names, above)
        later = next((statement for statement in block if statement in chain), None)
        if later is not None:
            return later is not above and block.index(above) < block.index(later)
        parent = names.parents[above]
        if not isinstance(parent, around) or not isinstance(parent, ast.stmt):
            return False
        above = parent


def follows(names: Names, first: ast.AST, second: ast.stmt) -> bool:
    """Whether a statement always runs after another of the same function."""
    if names.function(first) is not names.function(second):
        return False
    above: ast.AST = names.statement(first)
    block = block_of(names, second)
    while above not in block:
        above = names.parents.get(above, names.source.tree)
        if above is names.source.tree or isinstance(above, FUNCTIONS):
            return False
    return isinstance(above, ast.stmt) and block.index(above) < block.index(second)
