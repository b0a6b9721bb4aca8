"""A rank's standard output and error on their way to the launcher, byte for byte, on one connection.

horovodrun and mpirun forward lines: a progress bar, which ends none, has the lines of other streams written
into it. Here each piece is sent in a frame that names its stream. A connection of its own keeps the lifeline
free: a terminal that is paused holds the ranks up, as in a pipe, and no sign of life.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import IO

OUT, ERR = 1, 2
_HEADER = struct.Struct("!BI")  # the stream, and how many bytes of it follow
_READ = 1 << 16
# A line is sent whole where that is possible: what lacks its end is held back for so long, and up to a size.
_QUIET_S, _LATE_S = 0.2, 1.0
_HELD = 8 << 20
_LARGEST = _HELD + _READ
_IDLE_S = 1.0


class Forwarder:
    """A rank's end: sends what its command writes until both pipes are closed."""

    def __init__(self, connection: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        self._connection = connection
        self._pipes = {OUT: out, ERR: err}
        self._held = {OUT: bytearray(), ERR: bytearray()}
        self._began = {OUT: 0.0, ERR: 0.0}
        self._ended = threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """The command has ended: nothing that it left behind keeps its pipes open for long."""
        self._ended.set()

    def join(self, seconds: float) -> bool:
        """Whether everything was sent within that time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        with selectors.DefaultSelector() as ready, self._connection:
            for number, pipe in self._pipes.items():
                ready.register(pipe, selectors.EVENT_READ, number)
            while ready.get_map():
                found = ready.select(_QUIET_S if any(self._held.values()) else _IDLE_S)
                for key, _ in found:
                    data = os.read(key.fd, _READ)
                    if data:
                        self._take(key.data, data)
                    else:
                        ready.unregister(key.fileobj)
                if not found and self._ended.is_set():
                    break
                self._send_late(quiet=not found)
            self._send_late(quiet=True)

    def _take(self, number: int, data: bytes) -> None:
        self._send(OUT if number == ERR else ERR)  # the order of the two streams stays as it was
        held = self._held[number]
        if not held:
            self._began[number] = time.monotonic()
        # A line ends behind its newline; a bar ends where it is drawn again.
        newline, again = data.rfind(b"\n") + 1, data.rfind(b"\r")
        ends = max(newline, again) if newline or again >= 0 else -len(held)
        whole = len(held) + ends
        held += data
        if whole:
            self._send(number, whole)
        if len(held) >= _HELD:
            self._send(number)

    def _send_late(self, quiet: bool) -> None:
        now = time.monotonic()
        for number in (OUT, ERR):
            if quiet or now - self._began[number] >= _LATE_S:
                self._send(number)

    def _send(self, number: int, size: int | None = None) -> None:
        """Send what is held of a stream, or its first bytes. A launcher that is gone reads nothing more."""
        held = self._held[number]
        data = bytes(held[:size])
        del held[:size]
        self._began[number] = time.monotonic()
        if data and not self._lost:
            try:
                self._connection.sendall(_HEADER.pack(number, len(data)) + data)
            except OSError:
                self._lost = True  # the pipes are still read: the command has its own end to come to


def receive(connection: socket.socket, take: Callable[[int, bytes], None]) -> None:
    """The launcher's end, until the rank closes it or sends what is no frame. Raises: OSError."""
    with connection.makefile("rb") as frames:
        while len(header := frames.read(_HEADER.size)) == _HEADER.size:
            number, size = _HEADER.unpack(header)
            if number not in (OUT, ERR) or size > _LARGEST:
                return
            data = frames.read(size)
            take(number, data)
            if len(data) < size:
                return
