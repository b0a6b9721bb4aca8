"""The launcher's end of what holds a job together: one connection from each rank.

A rank says how it ended on it, so the first that failed is known by one clock. While it is open both ends
show signs of life; when it is silent or closed, the launcher knows that a host is gone and the rank ends
itself.
What arrives is JSON and is never unpickled; who does not name the job is not listened to.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hvdkit.launch.watch import Watch
from hvdkit.launch.world import Member, joined

BEAT_S = 2.0
# Longer than a machine under full load keeps a small process waiting; the bound that docs/run.md states.
SILENCE_S = 30.0
_HELLO_S = 10.0


@dataclass(frozen=True)
class RankEnd:
    """How a rank ended. code: its exit code, 128 + N for signal N; None: it was never heard of again.

    stopped: somebody asked it to end, mostly because another rank had failed.
    """

    rank: int
    host: str
    code: int | None
    stopped: bool = False

    @property
    def failed(self) -> bool:
        """It did not end well."""
        return self.code != 0


class Lifeline:
    """A server for the ranks of one job, on one address. Close it and every rank ends."""

    def __init__(
        self, address: str, port: int, job: str, watch: Watch | None = None, gathered: int = 0
    ) -> None:
        """Listen. Raises: OSError if the port is taken.

        watch: hears what the ranks record. gathered: so many ranks wait until all have come, and hear where
        all of them are; 0 where each starts when it comes.
        """
        self._watch = watch
        self._gathered = gathered
        self._members: dict[int, Member] = {}
        self._came = threading.Condition()
        self._sending = threading.Lock()
        self._job = job
        self._server = socket.create_server((address, port))
        self.address: tuple[str, int] = self._server.getsockname()[:2]
        self._lock = threading.Lock()
        self._open: dict[int, socket.socket] = {}
        self._hosts: dict[int, str] = {}
        self._stopped: dict[int, float] = {}
        self._ended: list[tuple[float, RankEnd]] = []
        self._closing = False
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    @property
    def ended(self) -> tuple[RankEnd, ...]:
        """Ranks that ended, in the order in which it was known that they end."""
        with self._lock:
            return tuple(end for _, end in sorted(self._ended, key=lambda ended: ended[0]))

    @property
    def has_failure(self) -> bool:
        """Whether a rank has failed."""
        return any(end.failed for end in self.ended)

    @property
    def alive(self) -> int:
        """Ranks that are connected."""
        with self._lock:
            return len(self._open)

    @property
    def silent(self) -> tuple[RankEnd, ...]:
        """Ranks that are connected and did not say that they end; some time after close(): gone."""
        with self._lock:
            return tuple(RankEnd(r, self._hosts[r], None) for r in self._open if r not in self._stopped)

    def close(self) -> None:
        """Tell every rank to end and take no more."""
        with self._lock:
            self._closing = True
            connections = list(self._open.values())
        with self._came:
            self._came.notify_all()
        _shut(self._server, socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._server.close()
        for connection in connections:
            _shut(connection, socket.SHUT_WR)

    def wait(self, seconds: float) -> bool:
        """Whether all ranks were gone within that time."""
        end = time.monotonic() + seconds
        while self.alive and time.monotonic() < end:
            time.sleep(0.05)
        return not self.alive

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            connection.settimeout(_HELLO_S)
            try:
                hello = json.loads(lines.readline(4096))
                if hello["job"] != self._job:
                    return
                rank, host = int(hello["rank"]), str(hello["host"])
                if self._gathered:
                    at = Member(connection.getpeername()[0], int(hello["port"]), int(hello["local_rank"]))
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                return
            connection.settimeout(SILENCE_S)
            with self._lock:
                if self._closing:
                    return
                self._open[rank] = connection
                self._hosts[rank] = host
            code = None
            try:
                # The rank starts when it hears that it is expected.
                answer = f"{self._gather(rank, at) if self._gathered else ''}\n".encode()
                with self._sending:  # whole, between two signs of life
                    connection.sendall(answer)
                for line in lines:
                    message: Mapping[str, Any] = json.loads(line)
                    if "exit" in message:
                        code = int(message["exit"])
                        break
                    if "watch" in message and self._watch is not None:
                        self._watch.hear(rank, host, message["watch"])
                    if "stopped" in message:
                        with self._lock:
                            self._stopped.setdefault(rank, time.monotonic())
            except (OSError, ValueError, RecursionError):
                pass  # silent for too long, or broken off: gone without a word
            if code == 0 and self._watch is not None:
                self._watch.hear(rank, host, {"left": True})
            with self._lock:
                self._open.pop(rank, None)
                since = self._stopped.get(rank, time.monotonic())
                self._ended.append((since, RankEnd(rank, host, code, rank in self._stopped)))

    def _gather(self, rank: int, member: Member) -> str:
        """Where all ranks are. Raises: ConnectionError where the job ends before all have come."""
        with self._came:
            self._members[rank] = member
            self._came.notify_all()
            self._came.wait_for(lambda: self._closing or len(self._members) == self._gathered)
            if self._closing:
                raise ConnectionError("the job ended before all ranks had come")
            return joined([self._members[each] for each in range(self._gathered)])

    def _beat(self) -> None:
        while not self._closing:
            with self._lock:
                connections = list(self._open.values())
            for connection in connections:
                try:
                    with self._sending:
                        connection.sendall(b"\n")
                except OSError:
                    _shut(connection, socket.SHUT_RDWR)  # its reader notices and writes it down
            time.sleep(BEAT_S)


def _shut(connection: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):  # the other side was faster
        connection.shutdown(how)
