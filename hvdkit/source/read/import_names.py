"""Where the names of an import statement lie, for Python 3.9, whose parser does not say."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from hvdkit.source.read.fstrings import Offset, Position

RELIABLE = sys.version_info >= (3, 10)
_KEYWORD = re.compile(r"\bimport\b")
# A comment is skipped over; a comma ends a name.
_PART = re.compile(r"#[^\r\n]*|(?P<part>\w+|[*.])|(?P<comma>,)")


def place(tree: ast.AST, text: str, offset: Offset, position: Position) -> None:
    """Give every name of the import statements the places that later Pythons give it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            start = offset(node.lineno, node.col_offset)
            end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
            for alias, (first, last) in zip(node.names, _names(text[start:end])):
                alias.lineno, alias.col_offset = position(start + first)
                alias.end_lineno, alias.end_col_offset = position(start + last)


def _names(statement: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each `name as other` of a statement."""
    keyword = _KEYWORD.search(statement)
    parts: list[re.Match[str]] = []
    for found in _PART.finditer(statement, keyword.end() if keyword else 0):
        if found["part"]:
            parts.append(found)
        elif found["comma"]:
            yield parts[0].start(), parts[-1].end()
            parts = []
    if parts:
        yield parts[0].start(), parts[-1].end()
