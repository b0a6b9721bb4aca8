"""Passes on what the watched command of a rank records (hvdkit.sync.folder), from the rank's host."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hvdkit.sync import stack
from hvdkit.sync.folder import BROKEN, Reader

LOOK_S = 0.5
# So long nothing may change before the process is asked where it is, and asked again: the launcher knows then
# that it is still there, within its bound. What stands still for long is asked now and then.
STALL_S, AGAIN_S, RARELY_S = 8.0, 3.0, 60.0
_OFTEN = 5
_STOPPED = "Tt"  # states of a process that a signal or a debugger has stopped: proc(5)


class Follower:
    """Looks into the folder of one command, now and then and once it has ended."""

    def __init__(self, folder: Path, command: int, send: Callable[[Mapping[str, Any]], None]) -> None:
        """command: the process that was started, which may not be the one that trains."""
        self._folder, self._reader = folder, Reader(folder)
        self._command, self._send = command, send
        self._last: list[int] = []
        self._asks_at: float | None = None
        self._asked = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        threading.Thread(target=self._follow, daemon=True).start()

    def end(self) -> None:
        """The command has ended: pass on the rest."""
        self._ended.set()
        self._look()

    def _follow(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        # Whatever the command does to the folder, or leaves half written when it is killed: its end counts.
        with self._lock, contextlib.suppress(*BROKEN):
            for event in self._reader.events():
                self._send({"watch": event})
            at = self._reader.at()
            process = at.process or self._command
            stopped = _is_stopped(process)
            now = [process, at.steps, at.waits, int(stopped)]
            if [*now, at.calls] != self._last:
                self._last = [*now, at.calls]
                self._send({"watch": {"at": now}})
                self._asks_at = time.monotonic() + STALL_S if at.process else None
                self._asked = 0
            elif self._asks_at is not None and time.monotonic() >= self._asks_at and not stopped:
                self._asked += 1
                self._asks_at = time.monotonic() + (AGAIN_S if self._asked < _OFTEN else RARELY_S)
                self._send({"watch": {"stack": stack.ask(self._folder, process)}})


def _is_stopped(process: int) -> bool:
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False  # ended
    return text.rpartition(")")[2].split()[0] in _STOPPED
