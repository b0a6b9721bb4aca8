"""The lines that a rank prints, on stdout and stderr: metrics are compared where they are shown."""

from __future__ import annotations

import functools
import sys
from typing import Any, Protocol

from hvdkit.verify.hook.places import place_of

LONGEST = 1000  # characters of a line that are kept
MOST = 500  # lines between two records


class Printing(Protocol):
    """What is told of lines: the recorder of either framework."""

    printed: list[str]
    printed_at: list[str]


def watch_printing(recorder: Printing) -> None:
    """Note each line that is written to the streams that the process has now."""
    for stream in (sys.stdout, sys.stderr):
        _watch(recorder, stream)


def _watch(recorder: Printing, stream: Any) -> None:
    if stream is None:
        return
    write = stream.write
    begun = ""

    @functools.wraps(write)
    def watched(text: str) -> int:
        nonlocal begun
        *lines, begun = (begun + text).replace("\r", "\n").split("\n")
        begun = begun[-LONGEST:]
        for line in lines:
            if line.strip() and len(recorder.printed) < MOST:
                recorder.printed.append(line[:LONGEST])
                recorder.printed_at.append(place_of())
        written: int = write(text)
        return written

    stream.write = watched
