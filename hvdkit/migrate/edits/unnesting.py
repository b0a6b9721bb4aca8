"""Edits that take a `with`, `for` or `try` from around its body."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from hvdkit.migrate.edits import CannotEdit, own_lines
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names
from hvdkit.source.read.source import Source

_HEADER = re.compile(r"[\s)]*:[ \t\f]*(\r\n|\r|\n)")  # the end of a compound statement's first line


def open_up(
    names: Names, statement: ast.With | ast.For | ast.Try, instead: str = "", gone: Iterable[ast.stmt] = ()
) -> list[Edit]:
    """A `with`, `for` or `try` gone and its body in its place, one level out. Raises CannotEdit.

    The handlers of a `try` go with its header. instead: a line in place of the header. gone:
    statements of the body that other edits take away.
    """
    source, body = names.source, statement.body
    start, _ = own_lines(source, statement)
    first, _ = own_lines(source, body[0])
    _, end = own_lines(source, body[-1])
    header = _HEADER.match(source.text, _end_of_header(source, statement))
    if header is None or source.lines_inside_strings(statement):
        raise CannotEdit("a comment or a multi-line string is in the way")
    outer = source.indent(source.line_at(start))
    extra = source.indent(source.line_at(first)).removeprefix(outer)
    edits = [Edit(start, header.end(), f"{outer}{instead}{source.newline}" if instead else "")]
    taken = {line for one in gone for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    for number in range(source.line_at(header.end()), source.line_at(max(first, end - 1)) + 1):
        place = source.starts[number - 1] + len(outer)
        if source.line(number).startswith(outer + extra) and number not in taken:
            edits.append(Edit(place, place + len(extra), ""))
    if isinstance(statement, ast.Try):
        edits.append(Edit(end, own_lines(source, statement)[1], ""))
    return edits


def _end_of_header(source: Source, statement: ast.With | ast.For | ast.Try) -> int:
    if isinstance(statement, ast.Try):
        return source.start(statement) + len("try")
    return source.end(statement.iter if isinstance(statement, ast.For) else statement.items[-1].context_expr)


def drop_item(names: Names, statement: ast.With, item: ast.withitem) -> list[Edit]:
    """A `with` statement without an item; without its only one, the body alone. Raises CannotEdit."""
    source, items = names.source, statement.items
    if len(items) == 1:
        return open_up(names, statement)
    position = items.index(item)
    if position + 1 < len(items):
        start, end = source.start(item.context_expr), source.start(items[position + 1].context_expr)
    else:
        last = items[position - 1]
        start, end = source.end(last.optional_vars or last.context_expr), source.end(item.context_expr)
    if "#" in source.text[start:end]:
        raise CannotEdit("there is a comment between the items of the `with` statement")
    return [Edit(start, end, "")]
