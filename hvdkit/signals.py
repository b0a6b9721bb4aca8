"""Which signals a program may answer: one that was ignored when it started stays ignored.

`nohup` starts a program with SIGHUP ignored, and a shell without job control what it puts in the background
with SIGINT ignored.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable


def heeded(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Those that are not ignored."""
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
