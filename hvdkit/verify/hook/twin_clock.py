"""A clock that jumps, for the script's own calls: numbers that are made of the time differ between twins, and
those that differ between twins are compared with none."""

from __future__ import annotations

import functools
import sys
import time
from typing import Any

from hvdkit.verify.hook.places import is_own

JUMP = 1000.0  # seconds by which each call is further ahead
CLOCKS = {
    **dict.fromkeys(("time", "perf_counter", "monotonic", "process_time"), 1.0),
    **dict.fromkeys(("time_ns", "perf_counter_ns", "monotonic_ns", "process_time_ns"), 1e9),
}


def let_clocks_jump(count: int) -> None:
    """Let each call of the script see the clock JUMP times this count further ahead."""
    jumps = 0

    def watched(read: Any, unit: float) -> Any:
        @functools.wraps(read)
        def clock() -> Any:
            nonlocal jumps
            now = read()
            if not is_own(sys._getframe(1)):
                return now
            jumps += count
            return now + type(now)(jumps * JUMP * unit)

        return clock

    for name, unit in CLOCKS.items():
        setattr(time, name, watched(getattr(time, name), unit))
