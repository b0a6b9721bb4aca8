"""Blocks whose every statement is deleted, each by a rule of its own: the last one becomes `pass`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.migrate import edits
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit


def fill(names: Names, changes: Sequence[Edit]) -> list[Edit]:
    """The changes, with a `pass` in every block that they would empty. Module level may be empty."""
    source = names.source
    deleted = {(edit.start, edit.end): edit for edit in changes if not edit.text and edit.end > edit.start}
    result = list(changes)
    if len(deleted) < 2:
        return result
    for node in (node for node in names.parents if "body" in node._fields):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list) or len(body) < 2 or not isinstance(body[0], ast.stmt):
                continue
            gone = [_deletion(names, statement, deleted) for statement in body]
            first, last = gone[0], gone[-1]
            if None in gone or first is None or last is None:
                continue
            if any(edit.text and first.start <= edit.start <= last.end for edit in changes):
                continue
            result.remove(last)
            result.append(Edit(source.start(body[-1]), source.end(body[-1]), "pass"))
    return result


def _deletion(names: Names, statement: ast.stmt, deleted: dict[tuple[int, int], Edit]) -> Edit | None:
    """The edit that deletes exactly a statement's lines."""
    try:
        return deleted.get(edits.own_lines(names.source, statement))
    except edits.CannotEdit:
        return None
