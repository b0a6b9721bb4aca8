"""Text for every output: the name of a file may have bytes that are no text, a notebook half a character."""

from __future__ import annotations

import codecs
import io

_ERRORS = "hvdkit.printable"


def make_printable(stream: object) -> None:
    """Let a stream write what its encoding does not have as `printable` writes it, and never fail over it."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_ERRORS)


def printable(text: str) -> str:
    """The text with bytes of a file's name that are not UTF-8 as \\xe9, and half a character as \\ud83d."""
    return text.encode("utf-8", _ERRORS).decode("utf-8")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    return "".join(map(_escape, part)), error.end


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte, as Python keeps it in a name (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(_ERRORS, _escaped)
