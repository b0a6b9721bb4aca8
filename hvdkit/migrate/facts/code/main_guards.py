"""What a file runs as a script alone: its main guard, and the imports above it."""

from __future__ import annotations

import ast

from hvdkit.source.index.names import Names


def module_imports(names: Names) -> list[ast.stmt]:
    """The module-level statements that import, a `try:` around imports among them."""
    imports = (ast.Import, ast.ImportFrom)
    return [
        statement
        for statement in names.source.tree.body
        if isinstance(statement, imports)
        or (isinstance(statement, ast.Try) and all(isinstance(part, imports) for part in statement.body))
    ]


def has_main_guard(names: Names) -> bool:
    """Whether a file has `if __name__ == "__main__":`."""
    return main_guard(names) is not None


def main_guard(names: Names) -> ast.If | None:
    """The main guard of a file."""
    for use in names.uses.get("__name__", ()):
        statement = names.statement(use)
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Compare):
            if names.parents[statement] is names.source.tree:
                return statement
    return None
