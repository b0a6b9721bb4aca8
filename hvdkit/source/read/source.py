"""One Python file: its bytes, text, tree, and where each node lies in the text.

Positions are character offsets into `Source.text`, which is the file decoded and nothing else: encoding the
unchanged text gives the file's bytes back, so whatever no edit touches stays byte-identical.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from hvdkit.dataclass import dataclass
from hvdkit.source.edits import Edit, apply_edits, merge
from hvdkit.source.read import fstrings, import_names
from hvdkit.source.read.notebook import MOST_DIGITS, NotANotebook, Notebook, parse_notebook

F_STRING = re.compile(r"\b([fF][rR]?|[rR][fF])[\"']")
NEWLINE = re.compile(r"\r\n|\r|\n")
# Characters of Python in one file. Programs that people write have a hundred times less, and each million
# takes some ten seconds and half a gigabyte.
LARGEST = 2_000_000
TOO_LARGE = 10**MOST_DIGITS
# Python reads it where it is no decimal number, and cannot print it.
LONG_NUMBER = re.compile(r"0[xXoObB]_?[0-9a-fA-F][0-9a-fA-F_]{3500}")
_ASCII = bytes([9, 10, *range(32, 127)])
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")


@dataclass(frozen=True)
class Stopped:
    """A branch that the tree has as a `raise` already, which the edit puts into the text.

    names: what the branch used.
    """

    node: ast.If
    edit: Edit
    message: str
    names: frozenset[str]


@dataclass(frozen=True)
class Original:
    """A file's own text, some statements of which were put on lines of their own.

    lines: for each line of what it became, the line that it was or lay in, 1-based.
    """

    text: str
    lines: list[int]


@dataclass(eq=False)
class Source:
    """A file that could be read. `text` is Python without a byte order mark; `encode` puts it back.

    For a notebook `text` is the program its cells make, and `raw` the file's own text.
    """

    path: Path
    text: str
    encoding: str
    tree: ast.Module
    starts: list[int] = field(repr=False)
    notebook: Notebook | None = None
    stopped: list[Stopped] = field(default_factory=list)
    original: Original | None = None

    @property
    def raw(self) -> str:
        """The file's own text."""
        if self.original is not None:
            return self.original.text
        return self.notebook.text if self.notebook else self.text

    def own_line(self, number: int) -> int:
        """The number in the file itself of the line that is `number` in the text."""
        return self.original.lines[number - 1] if self.original is not None else number

    def rewritten(self, edits: list[Edit]) -> str:
        """The file's own text with edits of `text` carried out. Raises EditConflict, NotANotebook."""
        merged = merge(edits)
        return self.notebook.rewritten(merged) if self.notebook else apply_edits(self.text, merged)

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses most."""
        found = NEWLINE.findall(self.text)
        return max(set(found), key=found.count) if found else "\n"

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    @cached_property
    def unit(self) -> str:
        """One level of indentation as this file writes it."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body[0].lineno > node.lineno:
                inner, outer = self.indent(body[0].lineno), self.indent(node.lineno)
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
        return "    "

    def unit_in(self, indent: str) -> str:
        """One more level below an indentation: tabs below tabs, spaces below spaces, in a file with both."""
        if indent and indent.strip(" ") == "" and "\t" in self.unit:
            return "    "
        return "\t" if indent and indent.strip("\t") == "" else self.unit

    def offset(self, line: int, column: int) -> int:
        """Offset of an ast position: 1-based line, column in UTF-8 bytes."""
        start = self.starts[line - 1]
        if self._ascii or column == 0:
            return start + column
        return start + len(self.line(line).encode()[:column].decode())

    def position(self, offset: int) -> tuple[int, int]:
        """The ast position of an offset: the reverse of `offset`."""
        line = self.line_at(offset)
        return line, len(self.text[self.starts[line - 1] : offset].encode())

    def start(self, node: ast.AST) -> int:
        """Where a node begins; a decorated definition begins at its first decorator's `@`."""
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            return self.text.rindex("@", 0, self.start(decorators[0]))
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Where a node ends."""
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def is_elif(self, node: ast.AST) -> bool:
        """Whether a statement is written as `elif`: no line can stand above it, and it cannot go alone."""
        return self.text.startswith("elif", self.start(node))

    def segment(self, node: ast.AST) -> str:
        """The text of a node, as written."""
        return self.text[self.start(node) : self.end(node)]

    def lines_inside_strings(self, statement: ast.stmt) -> set[int]:
        """Lines that begin inside a string literal: indenting them would change the string."""
        inside: set[int] = set()
        for node in ast.walk(statement):
            if not isinstance(node, (ast.Constant, ast.JoinedStr)) or not node.end_lineno:
                continue
            if isinstance(node, ast.JoinedStr) or isinstance(node.value, (str, bytes)):
                text = self.segment(node) if node.end_lineno > node.lineno else ""
                if '"""' in text or "'''" in text or "\\\n" in text:
                    inside.update(range(node.lineno + 1, node.end_lineno + 1))
        return inside

    def line(self, number: int) -> str:
        """Line `number` (1-based) with its line end."""
        stop = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : stop]

    def comments_above(self, statement: ast.stmt) -> Iterator[str]:
        """The comments in the lines right above a statement, the nearest first."""
        number = self.line_at(self.start(statement)) - 1
        while number >= 1 and self.line(number).lstrip().startswith("#"):
            yield self.line(number).strip()
            number -= 1

    def line_at(self, offset: int) -> int:
        """The 1-based line that holds an offset."""
        return bisect_right(self.starts, offset)

    def cell_line(self, line: int) -> tuple[int, int]:
        """The code cell (1-based; 0 outside notebooks) that holds a line, and the line's number in it."""
        for number, cell in enumerate(self.notebook.cells if self.notebook else (), start=1):
            first = self.line_at(cell.start)
            if first <= line <= self.line_at(cell.end):
                return number, line - first + 1
        return 0, self.own_line(line)

    def cells_part(self, above: ast.stmt, below: ast.stmt) -> bool:
        """Whether two statements of a notebook stand in different cells."""
        return (
            self.notebook is not None and self.cell_line(above.lineno)[0] != self.cell_line(below.lineno)[0]
        )

    def indent(self, number: int) -> str:
        """The white space at the start of a line."""
        line = self.line(number)
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def encode(self, text: str) -> bytes:
        """Bytes of a changed text in this file's encoding. Raises UnicodeEncodeError."""
        return text.encode(self.encoding)


@dataclass(frozen=True)
class Unreadable:
    """A file that is left as it is, and why."""

    path: Path
    reason: str
    line: int = 1


def _older(error: SyntaxError) -> str:
    """What to write where a script is older than Python 3.7: `x.cuda(async=True)`."""
    old = re.search(r"\basync\s*=", error.text or "")
    return "; async is a keyword since Python 3.7: write non_blocking=" if old else ""


def _decoded(path: Path, raw: bytes) -> tuple[str, str] | Unreadable:
    """The text of a file, and its encoding."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        # Python's tokenizer needs it. A codec for something else, such as punycode, may also take hours.
        if _ASCII.decode(encoding) != _ASCII.decode("ascii"):
            return Unreadable(path, f"its encoding {encoding} does not contain ASCII")
        text = raw.decode(encoding)
        survives = text.encode(encoding) == raw
    except UnicodeDecodeError as error:
        return Unreadable(path, f"not {error.encoding} text: {error.reason} at byte {error.start}")
    except (SyntaxError, LookupError, ValueError) as error:  # ValueError: a codec that refuses all text
        return Unreadable(path, f"unknown encoding: {error}")
    if not survives:
        return Unreadable(path, f"does not survive decoding as {encoding} and encoding again")
    return text, encoding


def parse(path: Path, raw: bytes) -> Source | Unreadable:
    """Decode and parse one file's bytes."""
    decoded = _decoded(path, raw)
    if isinstance(decoded, Unreadable):
        return decoded
    text, encoding = decoded
    notebook = None
    if path.suffix == ".ipynb":
        try:
            notebook = parse_notebook(text)
        except NotANotebook as error:
            return Unreadable(path, str(error))
        except RecursionError:
            return Unreadable(path, "it is nested too deeply")
        text = notebook.program
    if len(text) > LARGEST:
        return Unreadable(
            path, f"it holds {len(text)} characters of Python, more than the {LARGEST} that are read"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in somebody's string is not ours to report
            tree = ast.parse(text)
    except SyntaxError as error:
        return Unreadable(path, f"syntax error: {error.msg}{_older(error)}", error.lineno or 1)
    except ValueError as error:
        return Unreadable(path, f"cannot be parsed: {error}")
    except (RecursionError, MemoryError):
        return Unreadable(path, "nested too deeply for Python's own parser")
    if LONG_NUMBER.search(text):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= TOO_LARGE:
                return Unreadable(path, f"it has a number of more than {MOST_DIGITS} digits", node.lineno)
    starts = [0, *accumulate(map(len, LINE.findall(text)))]
    source = Source(path, text, encoding, tree, starts, notebook)
    if not import_names.RELIABLE:
        import_names.place(tree, text, source.offset, source.position)
    if not fstrings.RELIABLE and F_STRING.search(text):
        fstrings.relocate(tree, text, source.offset, source.position)
    return source


def does_not_compile(source: Source) -> str:
    """What Python finds wrong in what it could parse, such as an argument that is given twice."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.tree, str(source.path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return str(error)
    return ""
