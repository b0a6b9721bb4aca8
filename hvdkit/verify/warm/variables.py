"""The variables of a process as others read them in /proc: those it was started with, unless it writes there.

A fork has its parent's. The kernel reads them from the process's own memory, between two addresses (env_start
and env_end in /proc/PID/stat, proc(5)). What is written there is what others see.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

ROOM = 100_000  # bytes: less than the 128 KiB that one variable may have (MAX_ARG_STRLEN of execve(2))
RESERVED = {"HVDKIT_VERIFY_ROOM": " " * ROOM}  # what a process that forks is started with
START, END = 47, 48  # fields of /proc/PID/stat after the name in brackets: 50 and 51, counted from 1


def replace(variables: Mapping[str, str]) -> None:
    """Make these the process's variables, for itself and for those who read /proc. Raises OSError."""
    entries = (os.fsencode(name) + b"=" + os.fsencode(value) for name, value in variables.items())
    block = b"".join(entry + b"\0" for entry in entries)
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    start, end = int(fields[START]), int(fields[END])
    if not 0 < len(block) <= end - start:
        raise OSError("the variables of this process have no room for those of the rank")
    # First what the C library looks up: it keeps copies of its own from here on.
    os.environ.clear()
    os.environ.update(variables)
    ctypes.memmove(start, block.ljust(end - start, b"\0"), end - start)
