"""Where a watched process is in its code: asked by a signal, written by faulthandler, which needs no thread.

The process that waits in a collective answers, too: the handler runs whatever Python is held up by.
"""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import os
import re
import signal
import time
from pathlib import Path
from typing import IO, NamedTuple

# Nobody's: programs take SIGUSR1, the C library the first real-time signals.
SIGNAL = signal.SIGRTMAX - 2
_FILE = "stack"
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
_LOOK_S, _LOOKS = 0.05, 40
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib/python3|^<")
# What waits for other ranks: Horovod, torch.distributed, and a backward pass, whose hooks do.
_COLLECTIVE = re.compile(r"/(horovod|torch/distributed)/")
_BACKWARD = "_engine_run_backward"
_open: list[IO[str]] = []  # as long as the process lives: the handler writes to it


class Frame(NamedTuple):
    """One call of a stack."""

    file: str
    line: int
    function: str


def listen(folder: Path) -> None:
    """In a watched process: write the stack into the folder whenever the signal comes."""
    file = (folder / _FILE).open("a", encoding="utf-8")
    _open.append(file)
    # What faulthandler puts back when Python ends: a process that is still closing its libraries when it is
    # asked would be ended by the signal.
    signal.signal(SIGNAL, signal.SIG_IGN)
    faulthandler.register(SIGNAL, file, all_threads=False, chain=False)


def ask(folder: Path, process: int) -> list[Frame]:
    """The stack of a process that listens, innermost call first; [] where it gives none."""
    file = folder / _FILE
    if not file.is_file():
        return []  # it would be ended by the signal
    before = file.stat().st_size
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, SIGNAL)
    size = before
    for _ in range(_LOOKS):
        time.sleep(_LOOK_S)
        now = file.stat().st_size
        if now == size and now > before:
            break
        size = now
    text = file.read_bytes()[before:].decode("utf-8", "replace")
    return [Frame(name, int(line), function) for name, line, function in _FRAME.findall(text)]


def waits(frames: list[Frame]) -> bool:
    """Whether the library that the script has called last waits for other ranks, or may: a backward pass."""
    return in_collective(frames) or any(frame.function == _BACKWARD for frame in _of_libraries(frames))


def in_collective(frames: list[Frame]) -> bool:
    """Whether the library that the script has called last is one that connects ranks."""
    return any(_COLLECTIVE.search(frame.file) for frame in _of_libraries(frames))


def _of_libraries(frames: list[Frame]) -> list[Frame]:
    """The innermost calls, up to the script's."""
    return list(itertools.takewhile(lambda frame: _LIBRARY.search(frame.file), frames))


def own(frames: list[Frame]) -> list[Frame]:
    """The calls of the script and its modules, outermost first."""
    return [frame for frame in reversed(frames) if not _LIBRARY.search(frame.file)]


def parting(stacks: list[list[Frame]]) -> int | None:
    """The first depth at which stacks, outermost call first, are at different lines; None where at none."""
    for depth in range(max(map(len, stacks))):
        if len({frames[depth][:2] if depth < len(frames) else None for frames in stacks}) > 1:
            return depth
    return None


def at(frame: Frame) -> str:
    """A line, in words."""
    return f"{frame.file}:{frame.line}, in {frame.function}"


def place(frames: list[Frame]) -> str:
    """The line of the script, or of its modules, that is running; "" where there is none."""
    return at(own(frames)[-1]) if own(frames) else ""
