"""Where the expressions inside f-strings lie, for Python 3.9, whose parser does not say.

It gives wrong places in strings that are joined, multi-line or formatted. The string's own text is scanned
for its fields, each is parsed on its own, and the places are taken over when it is the same expression.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from typing import Callable

RELIABLE = sys.version_info >= (3, 10)
CLOSING = {"(": ")", "[": "]", "{": "}"}

Offset = Callable[[int, int], int]  # (line, column in bytes) -> offset
Position = Callable[[int], "tuple[int, int]"]  # and back


def relocate(tree: ast.AST, text: str, offset: Offset, position: Position) -> None:
    """Correct the places of all nodes inside f-strings; one that cannot be placed gets `unplaced = True`."""
    specs: set[ast.AST] = set()
    strings: list[ast.JoinedStr] = []
    for node in ast.walk(tree):  # outer nodes come first
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            specs.add(node.format_spec)
        elif isinstance(node, ast.JoinedStr) and node not in specs:
            strings.append(node)
    for string in strings:
        if getattr(string, "unplaced", False):
            continue
        start = offset(string.lineno, string.col_offset)
        end = offset(string.end_lineno or string.lineno, string.end_col_offset or 0)
        values = list(_values(string))
        fields = list(_fields(text[start:end]))
        for number, value in enumerate(values):
            field = fields[number] if len(fields) == len(values) else None
            _place(value, field, start, position)


def _values(string: ast.JoinedStr) -> Iterator[ast.expr]:
    """The expressions of a string in the order of its text, those of format specifications included."""
    for part in string.values:
        if isinstance(part, ast.FormattedValue):
            yield part.value
            if isinstance(part.format_spec, ast.JoinedStr):
                yield from _values(part.format_spec)


def _place(value: ast.expr, field: tuple[int, str] | None, start: int, position: Position) -> None:
    """Give an expression and all in it the places of the same expression parsed alone."""
    same: ast.expr | None = None
    if field is not None:
        try:
            # A field may go over lines, which only brackets allow.
            same = ast.parse(f"({field[1]})", mode="eval").body
        except SyntaxError:
            same = None
    if field is None or same is None or ast.dump(same) != ast.dump(value):
        for node in ast.walk(value):
            node.unplaced = True  # type: ignore[attr-defined]
        return
    lines = [0]
    for line in field[1].splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def absolute(line: int, column: int) -> tuple[int, int]:
        begin = lines[line - 1]
        if line == 1:
            column -= 1  # the bracket
        inside = field[1][begin:].encode()[:column].decode() if field else ""
        return position(start + (field[0] if field else 0) + begin + len(inside))

    for node, twin in zip(ast.walk(value), ast.walk(same)):
        if isinstance(twin, (ast.expr, ast.keyword, ast.arg)):
            node.lineno, node.col_offset = absolute(twin.lineno, twin.col_offset)  # type: ignore[attr-defined]
            node.end_lineno, node.end_col_offset = absolute(  # type: ignore[attr-defined]
                twin.end_lineno or twin.lineno, twin.end_col_offset or 0
            )


def _fields(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of the expression of every field in a string or several joined ones."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({text})").readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return
    for token in tokens:
        if token.type != tokenize.STRING:
            continue
        quote = min(i for i in (token.string.find("'"), token.string.find('"')) if i >= 0)
        if "f" not in token.string[:quote].lower():
            continue
        begin = starts[token.start[0] - 1] + token.start[1] - (1 if token.start[0] == 1 else 0)
        width = 3 if token.string[quote : quote + 3] in ("'''", '"""') else 1
        body = token.string[quote + width : -width]
        yield from _scan(body, begin + quote + width)


def _scan(body: str, begin: int) -> Iterator[tuple[int, str]]:
    """Fields of a string's body, or of a format specification."""
    place = 0
    while place < len(body):
        if body[place : place + 2] in ("{{", "}}"):
            place += 2
        elif body[place] == "{":
            stop, close = _end(body, place + 1)
            expression = body[place + 1 : stop]
            bare = expression.rstrip()
            if bare.endswith("=") and not bare.endswith(("==", "!=", "<=", ">=")):
                expression = bare[:-1]  # f"{x=}"
            yield begin + place + 1, expression
            spec = body.find(":", stop, close)
            if spec >= 0:
                yield from _scan(body[spec + 1 : close], begin + spec + 1)
            place = close + 1
        else:
            place += 1


def _end(body: str, place: int) -> tuple[int, int]:
    """Where a field's expression ends, and where its closing brace is."""
    waiting: list[str] = []
    quote = ""
    stop = -1
    depth = 0
    while place < len(body):
        char = body[place]
        if stop >= 0:  # in the conversion or the format specification
            depth += {"{": 1, "}": -1}.get(char, 0)
            if depth < 0:
                return stop, place
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif waiting and char == waiting[-1]:
            waiting.pop()
        elif char in CLOSING:
            waiting.append(CLOSING[char])
        elif not waiting and char == "}":
            return place, place
        elif not waiting and (char == ":" or (char == "!" and body[place + 1 : place + 2] != "=")):
            stop = place
        place += 1
    return len(body), len(body)
