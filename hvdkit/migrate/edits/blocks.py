"""Blocks that deletions of several rules empty: the last becomes `pass`.

No blank line is left on top of a block or of the file, or at its end.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence

from hvdkit.migrate import edits
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

_BLANK = re.compile(r"(?:[ \t]*\r?\n)*")


def fill(names: Names, changes: Sequence[Edit]) -> list[Edit]:
    """The changes, with a `pass` in every block that they would empty. Module level may be empty."""
    source = names.source
    deleted = {(edit.start, edit.end): edit for edit in changes if not edit.text and edit.end > edit.start}
    result = list(changes)
    for node in (source.tree, *(node for node in names.parents if "body" in node._fields)):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list) or len(body) < 2 or not isinstance(body[0], ast.stmt):
                continue
            gone = [_deletion(names, statement, deleted) for statement in body]
            first, last = gone[0], gone[-1]
            if node is source.tree or first is None or last is None or None in gone:
                _close_up(names, node, gone, result)
                _end_file(names, gone, result)
                continue
            if any(edit.text and first.start <= edit.start <= last.end for edit in changes):
                continue
            result.remove(last)
            result.append(Edit(source.start(body[-1]), source.end(body[-1]), "pass"))
    return result


def _close_up(names: Names, node: ast.AST, gone: list[Edit | None], result: list[Edit]) -> None:
    """Let the blank lines go that deletions on top of a block, or of the file, would leave there."""
    source = names.source
    leading = [edit for edit in itertools.takewhile(bool, gone) if edit is not None]
    if not leading or source.notebook is not None:
        return
    top = 0 if isinstance(node, ast.Module) else leading[0].start
    for edit in leading:
        end = _past_blank_lines(source.text, edit.end)
        if edit.start != top or any(each.text and top <= each.start < end for each in result):
            break  # a comment stands here, or what a rule writes
        result[result.index(edit)] = Edit(top, end, "")
        top = end


def _past_blank_lines(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _end_file(names: Names, gone: list[Edit | None], result: list[Edit]) -> None:
    """Let the blank lines go that deletions would leave at the end of the file."""
    source = names.source
    trailing = list(itertools.takewhile(lambda edit: edit is not None, reversed(gone)))
    if not trailing or source.notebook is not None:
        return
    first, last = trailing[-1], trailing[0]
    assert first is not None and last is not None
    start = len(source.text[: first.start].rstrip()) + len(source.newline)
    if source.text[last.end :].strip() or start >= first.start:
        return
    if not any(edit.text and start <= edit.start <= last.end for edit in result):
        result[result.index(first)] = Edit(start, first.end, "")


def _deletion(names: Names, statement: ast.stmt, deleted: dict[tuple[int, int], Edit]) -> Edit | None:
    """The edit that deletes exactly a statement's lines."""
    try:
        return deleted.get(edits.own_lines(names.source, statement))
    except edits.CannotEdit:
        return None
