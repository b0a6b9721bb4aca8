"""The unified diff of a plan."""

from __future__ import annotations

import os
import re

from hvdkit.migrate.plan import FilePlan
from hvdkit.migrate.read.source import NEWLINE
from hvdkit.printable import one_line


def file_diff(file: FilePlan) -> list[str]:
    """One file's diff as lines without line ends."""
    import difflib  # slow to import, and not every plan changes a file

    name = one_line(os.path.relpath(file.path))
    lines = difflib.unified_diff(
        lines_of(file.before), lines_of(file.after), f"a/{name}", f"b/{name}", lineterm=""
    )
    return list(lines)


def lines_of(text: str) -> list[str]:
    """Lines as the source counts them; an unfinished last line is marked as diff does."""
    lines = re.split(NEWLINE, text)
    if lines and lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\n\\ No newline at end of file"]
