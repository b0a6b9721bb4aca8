"""Jupyter notebooks: the code cells as one program, and edits back into the cells that they fall in.

Only the source strings of changed cells are replaced in the file's JSON text; outputs, metadata, key order
and layout stay byte for byte. Magics (`%time`, `!ls`, a `%%bash` cell, the first line of a `%%time` cell) are
blanked by text of equal length, so that an offset in the program is an offset in a cell.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hvdkit.dataclass import dataclass
from hvdkit.source.edits import Edit, apply_edits

# Between two cells stands an empty line: what is inserted after a cell's last line is told apart from what
# is inserted before the next one's first.
SEPARATOR = "\n\n"
MAGIC = re.compile(r"^([ \t]*)([%!?][^\n]*|[^\n#'\"]*\?{1,2}[ \t]*)$", re.MULTILINE)
ASSIGNED_MAGIC = re.compile(r"^([ \t]*[\w, \t]+=[ \t]*)([%!][^\n]*)$", re.MULTILINE)
# Cell magics that run the cell as Python, in the notebook's own variables, and time or catch what it prints.
AROUND_PYTHON = re.compile(r"\s*%%(time|capture|prun)\b[^\n]*(\n|\Z)")
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_MOST_LOOKED_AT = 2_000_000  # characters, which take some seconds
MOST_DIGITS = 4300  # of a number; newer Pythons refuse more, and older ones may take hours


def _number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise NotANotebook(f"it has a number of {len(digits)} digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_number)
_SPACE = re.compile(r"[ \t\r\n]*")


class NotANotebook(ValueError):
    """The text is no notebook of format 4; the message says what is wrong."""


@dataclass(frozen=True)
class Cell:
    """A code cell. json_start, json_end: where its source value stands in the file's text.

    start: where its code begins in the program.
    """

    json_start: int
    json_end: int
    code: str
    start: int

    @property
    def end(self) -> int:
        """Where its code ends in the program."""
        return self.start + len(self.code)


@dataclass(frozen=True)
class Notebook:
    """A notebook's JSON text, its code cells, and the Python program they make."""

    text: str
    cells: tuple[Cell, ...]
    program: str

    def rewritten(self, edits: Sequence[Edit]) -> str:
        """The JSON text with edits (offsets into the program) carried out in their cells.

        Raises NotANotebook for edits over the edge of a cell, and where a cell would not parse by itself.
        """
        changes: list[Edit] = []
        placed = 0
        for cell, limit in zip(self.cells, self._limits()):
            mine = [edit for edit in edits if cell.start <= edit.start and edit.end <= limit]
            placed += len(mine)
            if mine:
                changes.append(Edit(cell.json_start, cell.json_end, self._source(cell, mine)))
        if placed != len(edits):
            raise NotANotebook("an edit crosses the boundary of a cell")
        return apply_edits(self.text, changes)

    def _limits(self) -> list[int]:
        """Up to where an insertion still belongs to each cell: before the next one's first character."""
        starts = [cell.start for cell in self.cells[1:]]
        return [*(start - 1 for start in starts), len(self.program)]

    def _source(self, cell: Cell, edits: Sequence[Edit]) -> str:
        inside = []
        for edit in edits:
            start, end, text = edit.start - cell.start, edit.end - cell.start, edit.text
            if start > len(cell.code):  # below the last line, which has no line end of its own
                start = end = len(cell.code)
                text = ("\r\n" if "\r\n" in text else "\n") + text.rstrip("\r\n")
            inside.append(replace(edit, start=start, end=min(end, len(cell.code)), text=text))
        code = apply_edits(cell.code, inside)
        if not cell.code.endswith("\n"):
            # Where a last line was taken, the one above it ends the cell now.
            code = code.removesuffix("\n").removesuffix("\r")
        try:
            ast.parse(blanked(code))
        except SyntaxError as error:
            raise NotANotebook(f"a cell would not parse by itself: {error}") from error
        return _dump(self.text[cell.json_start : cell.json_end], code)


def parse_notebook(text: str) -> Notebook:
    """Find the code cells of a notebook. Raises NotANotebook."""
    cells: list[Cell] = []
    pieces: list[str] = []
    position = 0
    for start, end, value in _sources(text):
        lines = value if isinstance(value, list) else [value]
        if not all(isinstance(line, str) for line in lines):
            raise NotANotebook("a cell's source is neither text nor a list of lines")
        code = "".join(lines)
        cells.append(Cell(start, end, code, position))
        pieces.append(blanked(code))
        position += len(code) + len(SEPARATOR)
    return Notebook(text, tuple(cells), SEPARATOR.join(pieces))


def blanked(code: str) -> str:
    """A cell's code with its magics replaced by Python of the same length that does nothing."""
    if code.lstrip().startswith("%%"):
        around = AROUND_PYTHON.match(code)
        if around is None:
            return re.sub(r"[^\n]", " ", code)
        return re.sub(r"[^\n]", " ", around.group()) + blanked(code[around.end() :])

    pieces, end, looked_at = [], 0, 0
    for found in MAGIC.finditer(code):  # each is replaced by as many characters
        # Behind a magic a statement is over: what comes above it need not be looked at again.
        between = code[end : found.start(2)]
        looked_at += len(between)
        if looked_at > _MOST_LOOKED_AT:
            raise NotANotebook("it has too many lines that may be magics inside of brackets")
        if _begins_statement(between):
            pieces += [between, _nothing(found.group(2))]
            end = found.end(2)
    code = "".join([*pieces, code[end:]])
    return ASSIGNED_MAGIC.sub(lambda found: found.group(1) + _nothing(found.group(2)), code)


def _nothing(magic: str) -> str:
    return ("..." if len(magic) >= 3 else "0").ljust(len(magic))


def _begins_statement(before: str) -> bool:
    """Whether a statement begins behind a text: no bracket or string is open, as above `% (a, b))`.

    The text begins where a statement does. How far its lines are indented says nothing of that.
    """
    try:
        for _ in tokenize.generate_tokens(io.StringIO(_INDENTATION.sub("", before)).readline):
            pass
    except tokenize.TokenError:
        return False
    except SyntaxError:
        return True
    return True


def _dump(old: str, code: str) -> str:
    """A source value as JSON, in the form and layout of the old one."""
    ascii_only = old.isascii()
    if not old.startswith("["):
        return json.dumps(code, ensure_ascii=ascii_only)
    lines = [json.dumps(line, ensure_ascii=ascii_only) for line in code.splitlines(keepends=True)]
    starts = list(_elements(old, 0))
    if not starts:
        return "[" + ", ".join(lines) + "]"
    ends = [_value(old, start)[1] for start in starts]
    head, tail = old[: starts[0]], old[ends[-1] :]
    # One line tells no separator: it stands as the bracket does, on its own line or not.
    joint = old[ends[0] : starts[1]] if len(starts) > 1 else "," + (head[1:] or " ")
    return head + joint.join(lines) + tail


def _sources(text: str) -> Iterator[tuple[int, int, Any]]:
    """(start, end, value) of the source of every code cell."""
    try:
        top = dict(_members(text, _skip(text, 0)))
        if "cells" not in top:
            raise NotANotebook("it has no cells (notebook format 4 is needed)")
        for start in _elements(text, top["cells"]):
            cell = dict(_members(text, start))
            if _value(text, cell["cell_type"])[0] == "code":
                value, end = _value(text, cell["source"])
                yield cell["source"], end, value
    except (json.JSONDecodeError, KeyError, IndexError, StopIteration) as error:
        raise NotANotebook(f"not a notebook: {error}") from error
    except RecursionError as error:
        raise NotANotebook("its JSON is nested too deeply") from error


def _members(text: str, position: int) -> Iterator[tuple[str, int]]:
    """Keys of the object at a position, with where each value begins."""
    if text[position] != "{":
        raise NotANotebook("not a JSON object")
    position = _skip(text, position + 1)
    while text[position] != "}":
        key, position = _value(text, position)
        if not isinstance(key, str):
            raise NotANotebook("a key is no text")
        position = _skip(text, _skip(text, position) + 1)  # the colon
        yield key, position
        position = _skip(text, _value(text, position)[1])
        if text[position] == ",":
            position = _skip(text, position + 1)


def _elements(text: str, position: int) -> Iterator[int]:
    """Where each element of the array at a position begins."""
    if text[position] != "[":
        raise NotANotebook("cells is not a list")
    position = _skip(text, position + 1)
    while text[position] != "]":
        yield position
        position = _skip(text, _value(text, position)[1])
        if text[position] == ",":
            position = _skip(text, position + 1)


def _value(text: str, position: int) -> tuple[Any, int]:
    return _DECODER.raw_decode(text, position)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
