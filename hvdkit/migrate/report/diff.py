"""The unified diff of a plan, with the rules and reasons of each hunk in its header."""

from __future__ import annotations

import os
import re

from hvdkit.credentials import masked
from hvdkit.migrate.plan import FilePlan
from hvdkit.printable import one_line
from hvdkit.source.read.source import NEWLINE

CONTEXT = 1  # lines around a change: with more, changes for different reasons share a hunk
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\S+ @@")


def file_diff(file: FilePlan) -> list[str]:
    """One file's diff as lines without line ends.

    The reasons are where diff puts the name of a function, which `patch` and `git apply` do not read.
    """
    import difflib  # slow to import, and not every plan changes a file

    name = one_line(os.path.relpath(file.path))
    lines = difflib.unified_diff(
        lines_of(file.before), lines_of(file.after), f"a/{name}", f"b/{name}", lineterm="", n=CONTEXT
    )
    return [
        " ".join([line, *_reasons(file, hunk)]) if (hunk := _HUNK.match(line)) else line for line in lines
    ]


def _reasons(file: FilePlan, hunk: re.Match[str]) -> list[str]:
    """`HVD101: why` for each reason to change one of the hunk's lines; no text if there is none."""
    first, count = int(hunk[1]), int(hunk[2] or 1)
    found = [
        each for each in file.findings if each.edits and not each.cell and first <= each.line < first + count
    ]
    said = dict.fromkeys(
        masked(one_line(f"{each.rule}: {each.message}")) for each in sorted(found, key=lambda each: each.line)
    )
    return ["; ".join(said)] if said else []


def lines_of(text: str) -> list[str]:
    """Lines as the source counts them; an unfinished last line is marked as diff does."""
    lines = re.split(NEWLINE, text)
    if lines and lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\n\\ No newline at end of file"]
