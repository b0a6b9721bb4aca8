"""The folder in which a watched process leaves what its rank's end of the lifeline passes on.

`events`: one JSON object a line. `at`: where the process is, rewritten at each step, read now and then. Files
are all that a process needs: nothing waits, no thread is started, and whoever starts the training process, a
shell or a launcher of its own, hands the folder on in an environment variable.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "HVDKIT_WATCH"  # for a rank's end of the lifeline: whether to watch; for its command: the folder
_AT = struct.Struct("<qqqq")
_CALLS = struct.Struct("<q")
# What reading a folder raises that its command has deleted, or leaves half written when it is killed.
BROKEN = (OSError, ValueError, RecursionError, struct.error)


class At(NamedTuple):
    """process: its number, 0 before its first step. steps: taken. waits: 1 while it waits for averages.
    calls: collectives that it has waited for to their end, of any kind.
    """

    process: int
    steps: int
    waits: int
    calls: int


def prepare(folder: Path) -> None:
    """Make the files."""
    (folder / "events").touch()
    (folder / "at").write_bytes(_AT.pack(*At(0, 0, 0, 0)))


class Writer:
    """The watched process's side."""

    def __init__(self, folder: Path) -> None:
        self._events = folder / "events"
        with (folder / "at").open("r+b") as file:
            self._at = mmap.mmap(file.fileno(), _AT.size)
        self._calls = 0

    def at(self, steps: int, waits: bool) -> None:
        """Where the process is now."""
        _AT.pack_into(self._at, 0, os.getpid(), steps, waits, self._calls)

    def called(self) -> None:
        """A collective has ended that the process waited for."""
        self._calls += 1
        _CALLS.pack_into(self._at, _AT.size - _CALLS.size, self._calls)

    def event(self, event: Mapping[str, Any]) -> None:
        """Something happened. It is not recorded where the disk is full or the folder is gone."""
        with contextlib.suppress(OSError), self._events.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    @contextlib.contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """An error of the watch itself is a line of its output: the training goes on. what: it was doing."""
        try:
            yield
        except Exception as error:  # whatever it is, it is none of the script's
            self.event({"fault": f"{what}: {type(error).__name__}: {error}"})


class Reader:
    """The side of the lifeline."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = 0

    def at(self) -> At:
        """Where the process is."""
        return At(*_AT.unpack((self._folder / "at").read_bytes()))

    def events(self) -> list[Any]:
        """What happened since the last call."""
        with (self._folder / "events").open("rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        return [json.loads(line) for line in whole.splitlines()]
