"""Lines in colour. rich, which takes longer to load than a small file to migrate, is for tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from hvdkit.credentials import masked
from hvdkit.printable import as_it_is, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES = {"": "", "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
UNBROKEN = 1_000_000  # columns, for what only the terminal may wrap


def show_line(*pieces: str | tuple[str, str]) -> None:
    """Print texts, or (text, style), as one line without credentials, and in colour where that is wanted."""
    _show((masked(text), style) for text, style in map(_styled, pieces))


def show_source(text: str, style: str) -> None:
    """Print a line of a person's own file as it is: a diff with `****` in it could not be applied."""
    _show([(text, style)])


def console(file: TextIO | None = None, *, wraps: bool = False) -> Console:
    """rich's, on standard output or a file; under NO_COLOR without the bold and italics that rich keeps.

    wraps: whether what is longer than a line is wrapped between words. Otherwise the terminal wraps it: a
    command stays in one piece, and no cell of a table is cut.
    """
    from rich.console import Console

    return Console(
        file=as_it_is(sys.stdout if file is None else file),  # its texts come from `plain`, or from hvdkit
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        soft_wrap=not wraps,
        width=None if wraps else UNBROKEN,
    )


def plain(text: str, style: str = "") -> Text:
    """A text for rich's console: printable, without credentials, and none of it is markup."""
    from rich.text import Text

    return Text(printable(masked(text)), style=style)


def _styled(piece: str | tuple[str, str]) -> tuple[str, str]:
    return (piece, "") if isinstance(piece, str) else piece


def _coloured(file: TextIO) -> bool:
    """NO_COLOR wins over FORCE_COLOR, which wins over what the stream is."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (file.isatty() and os.environ.get("TERM") != "dumb")


def _show(pieces: Iterable[tuple[str, str]]) -> None:
    coloured = _coloured(sys.stdout)
    line = ""
    for text, style in pieces:
        text = printable(text)
        line += f"\x1b[{STYLES[style]}m{text}\x1b[0m" if coloured and style and text else text
    print(line, file=as_it_is(sys.stdout))
