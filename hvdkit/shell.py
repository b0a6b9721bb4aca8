"""Names in commands that are printed: each is one word of a shell, and no option."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from hvdkit.printable import one_line


def word(path: str | Path) -> str:
    """A path as it is typed: quoted where it has to be, and `./-rf.py` for one that begins with a dash."""
    name = str(path)
    return argument(f"./{name}" if name.startswith("-") else name)


def argument(text: str) -> str:
    """An argument as it is typed, options too: quoted where it has to be, and on one line."""
    if one_line(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, os.fsencode(text)))}'"


def _escaped(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and byte not in b"'\\"
    return chr(byte) if plain else f"\\{byte:03o}"
