"""The launcher's end of what holds a job together: one connection from each rank.

A rank says how it ended on it, so the first that failed is known by one clock. While it is open both ends
show signs of life; when it is silent or closed, the launcher knows that a host is gone and the rank ends
itself.
What arrives is JSON and is never unpickled; who does not name the job is not listened to, and no message
ends the launcher. What a rank's command prints has a connection of its own (hvdkit.launch.streams).
"""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hvdkit.launch import streams
from hvdkit.launch.watch import Watch
from hvdkit.launch.wire import LONGEST_HELLO, read_line
from hvdkit.launch.world import Member, joined

BEAT_S = 2.0
# Longer than a machine under full load keeps a small process waiting; the bound that docs/run.md states.
SILENCE_S = 30.0
_HELLO_S = 10.0  # for all of it
_STRANGERS = 64  # so many connections may wait that have not named the job, besides two of each rank
_LONGEST = 64 << 20  # bytes of a message: what the watch records names every tensor
# What may be over in a moment: too many open files, and a caller that has left.
_PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED)
_AGAIN_S = 0.2


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


@dataclass
class _Rank:
    """A rank that has come. stopped: when somebody asked it to end. since: when its end was known.

    prints: whether what it prints is still on its way; None where it has not begun.
    """

    host: str
    connection: socket.socket
    stopped: float | None = None
    since: float = 0.0
    end: RankEnd | None = None
    prints: bool | None = None

    @property
    def is_missed(self) -> bool:
        """It runs, or something that it has printed is still to come."""
        return self.end is None or self.prints is True or (self.prints is None and self.end.code is not None)


class Lifeline:
    """A server for the ranks of one job, on one address. Close it and every rank ends."""

    def __init__(
        self,
        address: str,
        port: int,
        job: str,
        ranks: int,
        *,
        watch: Watch | None = None,
        gathers: bool = False,
        take: Callable[[int, int, bytes], None] = lambda *_: None,
    ) -> None:
        """Listen. Raises: OSError if the port is taken.

        watch: hears what the ranks record. gathers: ranks wait until all have come, and hear where all of
        them are; otherwise each starts when it comes. take: hears what the ranks print, by rank and stream.
        """
        self._watch, self._take = watch, take
        self._size, self._gathers = ranks, gathers
        self._members: dict[int, Member] = {}
        self._came = threading.Condition()
        self._sending = threading.Lock()
        self._job = job
        self._server = socket.create_server((address, port))
        self.address: tuple[str, int] = self._server.getsockname()[:2]
        self._strangers = threading.BoundedSemaphore(_STRANGERS + 2 * ranks)
        self._lock = threading.Lock()
        self._ranks: dict[int, _Rank] = {}
        self._taking = 0
        self._closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    @property
    def ended(self) -> tuple[RankEnd, ...]:
        """Ranks that ended, in the order in which it was known that they end."""
        with self._lock:
            ranks = sorted(self._ranks.values(), key=lambda rank: rank.since)
            return tuple(rank.end for rank in ranks if rank.end is not None)

    @property
    def has_failure(self) -> bool:
        """Whether a rank has failed."""
        return any(end.failed for end in self.ended)

    @property
    def alive(self) -> int:
        """Ranks that are connected and have not ended."""
        with self._lock:
            return sum(rank.end is None for rank in self._ranks.values())

    @property
    def silent(self) -> tuple[RankEnd, ...]:
        """Ranks that are connected and did not say that they end; some time after close(): gone."""
        with self._lock:
            ranks = self._ranks.items()
            return tuple(
                RankEnd(number, rank.host, None)
                for number, rank in ranks
                if rank.end is None and rank.stopped is None
            )

    def close(self) -> None:
        """Tell every rank to end and take no more."""
        with self._lock:
            self._closing.set()
            connections = [rank.connection for rank in self._ranks.values()]
        with self._came:
            self._came.notify_all()
        _shut(self._server, socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._server.close()
        for connection in connections:
            _shut(connection, socket.SHUT_WR)

    def wait(self, seconds: float, patient: bool = False) -> bool:
        """Whether all ranks were gone within that time, and all that they had printed was taken.

        patient: what waits for a terminal that is paused has as long as that takes.
        """
        end = time.monotonic() + seconds
        while True:
            with self._lock:
                if not any(rank.is_missed for rank in self._ranks.values()):
                    return True
                taking = patient and self._taking > 0
            if not taking and time.monotonic() >= end:
                return False
            time.sleep(0.05)

    def _accept(self) -> None:
        while not self._closing.is_set():
            if not self._strangers.acquire(timeout=_AGAIN_S):
                continue
            connection = None
            try:
                connection, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
                self._strangers.release()
                if connection is not None:
                    connection.close()
                elif isinstance(error, OSError) and error.errno not in _PASSING:
                    return  # closed
                self._closing.wait(_AGAIN_S)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                hello = self._hello(connection)
            finally:
                self._strangers.release()
            if hello is None:
                return
            if hello.get("streams"):
                self._print(connection, hello["rank"])
            elif self._enter(connection, hello):
                self._follow(connection, hello)

    def _hello(self, connection: socket.socket) -> Mapping[str, Any] | None:
        """What a rank of this job says first; None where a stranger says something else, or nothing."""
        try:
            hello = json.loads(read_line(connection, _HELLO_S, LONGEST_HELLO))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(hello, dict) or hello.get("job") != self._job:
            return None
        numbers = ("rank", "port", "local_rank") if self._gathers and not hello.get("streams") else ("rank",)
        if any(type(hello.get(name)) is not int for name in numbers):
            return None
        return hello if 0 <= hello["rank"] < self._size else None

    def _enter(self, connection: socket.socket, hello: Mapping[str, Any]) -> bool:
        """Whether this is the first connection of a rank, which alone counts."""
        with self._lock:
            if self._closing.is_set() or hello["rank"] in self._ranks:
                return False
            self._ranks[hello["rank"]] = _Rank(str(hello.get("host", "")), connection)
            return True

    def _print(self, connection: socket.socket, number: int) -> None:
        """Take what a rank's command prints, to its end."""
        with self._lock:
            rank = self._ranks.get(number)
            if rank is None or rank.prints is not None:
                return
            rank.prints = True
        connection.settimeout(None)
        with contextlib.suppress(OSError):  # broken off: its lifeline tells
            streams.receive(connection, lambda stream, data: self._hear(number, stream, data))
        with self._lock:
            rank.prints = False

    def _hear(self, number: int, stream: int, data: bytes) -> None:
        with self._lock:
            self._taking += 1
        try:
            self._take(number, stream, data)
        finally:
            with self._lock:
                self._taking -= 1

    def _follow(self, connection: socket.socket, hello: Mapping[str, Any]) -> None:
        """Listen to a rank until its end."""
        number = hello["rank"]
        rank = self._ranks[number]
        code = None
        connection.settimeout(SILENCE_S)
        # Silent for too long, or broken off: gone without a word.
        with contextlib.suppress(OSError), connection.makefile("rb") as lines:
            # The rank starts when it hears that it is expected.
            answer = f"{self._gather(connection, hello) if self._gathers else ''}\n".encode()
            with self._sending:  # whole, between two signs of life
                connection.sendall(answer)
            while code is None and (line := lines.readline(_LONGEST)):
                code = self._message(number, rank, line)
        if code == 0 and self._watch is not None:
            self._watch.hear(number, rank.host, {"left": True})
        with self._lock:
            rank.since = time.monotonic() if rank.stopped is None else rank.stopped
            rank.end = RankEnd(number, rank.host, code, rank.stopped is not None)
        if code:
            # Its process stays until the job ends: horovodrun and mpirun end all other ranks as soon as one
            # has failed, and one of these may be about to say why, with an exit code of its own.
            self._closing.wait()

    def _message(self, number: int, rank: _Rank, line: bytes) -> int | None:
        """Handle what a rank says; its exit code where that is it. What is no message is left out."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict):
            return None
        if self._watch is not None and isinstance(message.get("watch"), dict):
            self._watch.hear(number, rank.host, message["watch"])
        if "stopped" in message and rank.stopped is None:
            rank.stopped = time.monotonic()
        code = message.get("exit")
        return code if type(code) is int else None

    def _gather(self, connection: socket.socket, hello: Mapping[str, Any]) -> str:
        """Where all ranks are. Raises: ConnectionError where the job ends before all have come."""
        member = Member(connection.getpeername()[0], hello["port"], hello["local_rank"])
        with self._came:
            self._members[hello["rank"]] = member
            self._came.notify_all()
            self._came.wait_for(lambda: self._closing.is_set() or len(self._members) == self._size)
            if self._closing.is_set():
                raise ConnectionError("the job ended before all ranks had come")
            return joined([self._members[each] for each in range(self._size)])

    def _beat(self) -> None:
        while not self._closing.wait(BEAT_S):
            with self._lock:
                connections = [rank.connection for rank in self._ranks.values()]
            for connection in connections:
                try:
                    with self._sending:
                        connection.sendall(b"\n")
                except OSError:
                    _shut(connection, socket.SHUT_RDWR)  # its reader notices and writes it down


def _shut(connection: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):  # the other side was faster
        connection.shutdown(how)
