"""Text for every output: what a terminal would obey in a stranger's name or line is shown as an escape.

A name may also have bytes that are no text, and a notebook half a character. `hvdkit` puts `Printable` before
both of its streams, so that nothing is printed around it.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable
from typing import Any, TextIO, cast

_ERRORS = "hvdkit.printable"
# C0, DEL, C1, and the marks that turn the direction of a text.
_OBEYED = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_IN_TEXT = re.compile(f"[{_OBEYED}]")
_IN_LINE = re.compile(f"[\n\t{_OBEYED}]")


class Printable:
    """A stream that writes what it is given as `printable` does. beneath: the stream that it writes to."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Write to the stream beneath; gives how many characters were passed."""
        self.beneath.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of them."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


def make_printable(stream: TextIO) -> TextIO:
    """A stream that writes what its encoding does not have as an escape, too, and never fails over it."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_ERRORS)
    return cast(TextIO, Printable(stream))


def as_it_is(stream: TextIO) -> TextIO:
    """The stream beneath: for texts that are printable already, between colours."""
    return stream.beneath if isinstance(stream, Printable) else stream


def encodable(text: str) -> str:
    """The text with bytes of a file's name that are not UTF-8 as \\xe9, and half a character as \\ud83d."""
    return text.encode("utf-8", _ERRORS).decode("utf-8")


def printable(text: str) -> str:
    """The same, with what a terminal obeys as \\x1b or \\u202e; lines and tabs stay."""
    return _IN_TEXT.sub(lambda found: _escape(found[0]), encodable(text))


def one_line(text: str) -> str:
    """The same for a name, or what else is one line: a line end and a tab are \\n and \\t."""
    return _IN_LINE.sub(lambda found: _escape(found[0]), encodable(text))


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural unless it is one: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    return "".join(map(_escape, part)), error.end


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte, as Python keeps it in a name (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


codecs.register_error(_ERRORS, _escaped)
