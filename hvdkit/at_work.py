"""A line on the terminal while a command reads for longer than a moment: it is at work, and not stuck."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SILENT = 2.0  # seconds without a line
CLEAR = "\r\x1b[K"


@contextmanager
def at_work(command: str) -> Iterator[None]:
    """Show on standard error, if it is a terminal, for how long a command has been reading."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    begin = time.monotonic()

    def show() -> None:
        shown = False
        while not done.wait(SILENT):
            seconds = time.monotonic() - begin
            print(
                f"{CLEAR}hvdkit {command}: reading for {seconds:.0f} s", end="", file=sys.stderr, flush=True
            )
            shown = True
        if shown:
            print(CLEAR, end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, name="hvdkit progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
