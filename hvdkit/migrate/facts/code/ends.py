"""Whether a statement is the last that its program runs."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.facts import Facts
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names
from hvdkit.source.index.statements import statements_below

MAX_CALLERS = 6
# Below the call of a function, these run nothing: definitions, and the start of the program itself.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def ends_program(facts: Facts, names: Names, statement: ast.stmt, depth: int = 0) -> bool:
    """Whether nothing runs after a statement, or after the calls of its function, before the program ends."""
    node: ast.AST = statement
    for parent in (statement, *names.ancestors(statement)):
        if isinstance(parent, FUNCTIONS):
            sites = facts.flow.call_sites(names, parent)
            return depth < MAX_CALLERS and all(
                ends_program(facts, where, where.statement(call), depth + 1) for where, call in sites
            )
        if isinstance(parent, LOOPS) and parent is not node:
            return False  # it goes round again
        if isinstance(parent, ast.stmt) and not all(map(_runs_nothing, statements_below(names, parent))):
            return False
        node = parent
    return True


def _runs_nothing(statement: ast.stmt) -> bool:
    """Whether a statement only defines, ends its function without a value, or is the program's main guard."""
    if isinstance(statement, ast.If):
        compared = statement.test
        return isinstance(compared, ast.Compare) and getattr(compared.left, "id", "") == "__name__"
    ends = isinstance(statement, ast.Return) and statement.value is None
    return ends or isinstance(statement, (ast.Pass, *DEFINITIONS))
