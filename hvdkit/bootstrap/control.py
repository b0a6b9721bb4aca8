"""The control port: Horovod's own rendezvous server, which also answers the questions of this job's members.

Members (ranks, or the processes that start a node's ranks) ask through a `Line`; Horovod's C++ side uses the
rest. Bound to one address. Whoever asks must name the job and prove that it knows its secret; Horovod's own
store is open only to addresses that were let in, and nothing that comes in is ever unpickled. Whatever a
stranger sends is answered, said in one line, and changes nothing.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

from hvdkit.bootstrap.errors import MeetingError
from hvdkit.bootstrap.messages import (
    CHALLENGE,
    JOB,
    MOST_BYTES,
    PATH,
    PROOF,
    MalformedError,
    Message,
)
from hvdkit.bootstrap.secret import Secret
from hvdkit.printable import printable

Answer = Callable[[Message, str], Message]

_REUSE = (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
# Requests take milliseconds. Who sends slowly, and who opens connections and sends nothing, is cut off.
LONGEST_SECONDS = 10.0
_LOOK_SECONDS = 0.5
# At the same time, from one address and from all that are no member's. A host's ranks ask a few at a time.
MOST_FROM_ONE, MOST_FROM_STRANGERS, MOST_FROM_MEMBER = 64, 512, 4096
_MOST_SESSIONS = 1 << 16
_MOST_LINES = 20


class _Handler(RendezvousHandler):  # type: ignore[misc]
    # ruff: noqa: N802  the names are http.server's
    server: ControlServer

    def do_POST(self) -> None:
        body = self._body()
        if body is None or self.path != PATH:
            self._refuse(400, "sent a message of no member")
        elif self.headers.get(JOB) != self.server.job:
            self._refuse(409, "asked for another job")
        elif not self._proven(body):
            self._refuse(401, "does not know the job's secret, or says again what was said")
        else:
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        address = self.client_address[0]
        try:
            message = json.loads(body)
            if not isinstance(message, dict):
                raise MalformedError("it is no object")
            if not self.server.is_new(message.get("session"), message.get("number")):
                self._refuse(401, "says again what was said")
                return
            said = self.server.answer(message, address)
        except (ValueError, RecursionError) as error:  # MalformedError and what json raises
            self._refuse(400, f"sent a message that cannot be understood: {error}")
            return
        if "refused" in said:
            self.server.turn_away(address, str(said["refused"]))
        reply = json.dumps(said).encode()
        proof = self.headers.get(PROOF, "")
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.send_header(PROOF, self.server.secret.proof(self.server.job, proof.encode(), reply))
        self.end_headers()
        self.wfile.write(reply)

    def _proven(self, body: bytes) -> bool:
        challenge = self.server.challenge
        if self.headers.get(CHALLENGE, "") != challenge:
            return False
        proof = self.headers.get(PROOF, "")
        return self.server.secret.proves(proof, self.server.job, challenge.encode(), body)

    def do_GET(self) -> None:
        if self.path == PATH:
            self.send_response(200)
            self.send_header(CHALLENGE, self.server.challenge)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self._let_in():
            super().do_GET()

    def do_PUT(self) -> None:
        if self._let_in():
            super().do_PUT()

    def do_DELETE(self) -> None:
        if self._let_in():
            super().do_DELETE()

    def do_HEAD(self) -> None:
        """Not http.server's, which looks for files."""
        self._refuse(403, "asked for a file")

    def _let_in(self) -> bool:
        known = self.client_address[0] in self.server.members and self.path.count("/") == 2
        if not known or not 0 <= self._length() <= MOST_BYTES:
            self._refuse(403, "asked for what Horovod's ranks tell each other")
            return False
        return True

    def _refuse(self, status: int, reason: str) -> None:
        self.server.turn_away(self.client_address[0], reason)
        self.close_connection = True
        self.send_response(status)
        # Who was started again, or meets a job that was, asks once more with the challenge of today.
        if status == 401:
            self.send_header(CHALLENGE, self.server.challenge)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self) -> bytes | None:
        length = self._length()
        if not 0 <= length <= MOST_BYTES:
            return None
        try:
            body = bytes(self.rfile.read(length))
        except OSError:
            return None  # it stopped in the middle; the handler closes the connection
        return body if len(body) == length else None

    def _length(self) -> int:
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if self.command == "DELETE" and not length:
            return 0
        return int(length) if length.isascii() and length.isdecimal() and len(length) < 10 else -1

    def log_error(self, format: str, *args: object) -> None:
        """http.server's: what is no HTTP, and what does not come to its end."""
        self.server.turn_away(self.client_address[0], "sent what is no request, or not all of one")


class ControlServer(RendezvousHTTPServer):  # type: ignore[misc]
    """Horovod's rendezvous server on one address. members: the addresses that may use its store."""

    daemon_threads = True
    # Ranks come all at once: socketserver's five in the queue would be refused or retried after a second.
    request_queue_size = 1024

    def __init__(self, address: str, port: int, job: str, secret: Secret, answer: Answer) -> None:
        self.job = job
        self.secret = secret
        self.answer = answer
        self.challenge = os.urandom(16).hex()
        self.members: frozenset[str] = frozenset()
        self._address = (address, port)
        self._stopping = threading.Lock()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._said: OrderedDict[str, int] = OrderedDict()
        self._turned_away: set[tuple[str, str]] = set()
        self._open: dict[socket.socket, tuple[str, float]] = {}
        self._open_from: Counter[str] = Counter()
        self._looked = 0.0
        super().__init__(self._address, _Handler, 0)

    def server_bind(self) -> None:
        """Without http.server's look-up of this host's name, which can take as long as DNS does."""
        self.socket.setsockopt(*_REUSE)
        self.socket.bind(self._address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address

    def start(self) -> None:
        """Answer in a thread of its own, until `stop`."""
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.1,), daemon=True, name="hvdkit-control"
        )
        self._thread.start()

    def stop(self) -> None:
        """Close the port; it is free when this returns. May be called again, and from any thread."""
        with self._stopping:
            if self._thread is not None:
                self.shutdown()
                self._thread.join()
                self._thread = None
            self.server_close()

    def admit(self, plan: list[Any], members: frozenset[str]) -> None:
        """Open Horovod's store for the ranks of a plan (horovod.runner's SlotInfo) and their addresses."""
        self.init(plan)
        self.members = members

    def is_new(self, session: object, number: object) -> bool:
        """Whether a member says this for the first time: it counts what it says. Raises: MalformedError."""
        if not isinstance(session, str) or type(number) is not int or len(session) > 64:
            raise MalformedError("it has no number")
        with self._lock:
            if number <= self._said.get(session, 0):
                return False
            self._said[session] = number
            self._said.move_to_end(session)
            if len(self._said) > _MOST_SESSIONS:
                self._said.popitem(last=False)
            return True

    def turn_away(self, address: str, reason: str) -> None:
        """Say in one line, once for each address and reason, that something was not taken."""
        with self._lock:
            if (address, reason) in self._turned_away or len(self._turned_away) > _MOST_LINES:
                return
            self._turned_away.add((address, reason))
            last = len(self._turned_away) > _MOST_LINES
        line = "more was turned away; no line says so from here on" if last else f"{address} {reason}"
        place = f"control port {self._address[0]}:{self.server_port}"
        print(f"hvdkit: {place}: turned away: {_one_line(line)}", file=sys.stderr, flush=True)

    def verify_request(self, request: socket.socket, client_address: tuple[str, int]) -> bool:
        """Whether a connection is served: not where its address holds too many already."""
        address = client_address[0]
        with self._lock:
            strangers = sum(count for name, count in self._open_from.items() if name not in self.members)
            if address in self.members:
                full = self._open_from[address] >= MOST_FROM_MEMBER
            else:
                full = self._open_from[address] >= MOST_FROM_ONE or strangers >= MOST_FROM_STRANGERS
            if not full:
                self._open[request] = address, time.monotonic()
                self._open_from[address] += 1
        if full:
            self.turn_away(address, "holds too many connections")
        return not full

    def shutdown_request(self, request: socket.socket) -> None:
        """socketserver's: the end of a connection."""
        with self._lock:
            address, _ = self._open.pop(request, ("", 0.0))
            self._open_from[address] -= 1
            if self._open_from[address] <= 0:
                del self._open_from[address]
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """socketserver's, several times a second: cut off who takes too long."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        with self._lock:
            late = [(each, who) for each, (who, since) in self._open.items() if now - since > LONGEST_SECONDS]
            for connection, _ in late:
                try:
                    connection.shutdown(socket.SHUT_RDWR)  # its thread notices, and closes it
                except OSError:
                    continue  # it ended just now
        for _, address in late:
            self.turn_away(address, "sends too slowly")

    def handle_error(self, request: socket.socket, client_address: tuple[str, int]) -> None:
        """socketserver's: no traceback in the output of a training."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):  # which only says that the other side is gone
            self.turn_away(client_address[0], f"could not be answered: {type(error).__name__}: {error}")


def listen(
    address: str, port: int, job: str, secret: Secret, answer: Answer, *, said_by: str, port_from: str
) -> ControlServer:
    """Bind the control port on an address of this host.

    said_by, port_from: what gave address and port, for the message.
    Raises: MeetingError: the port is taken, or the address is not this host's.
    """
    try:
        return ControlServer(address, port, job, secret, answer)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise MeetingError(
                f"the control port {address}:{port} is in use on this host",
                why="rank 0 listens there for the others; a different job or program is using it",
                fix=f"stop that job, or choose a different port on all nodes: {port_from}",
            ) from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise MeetingError(
                f"{said_by} is {address}, which is not an address of this host, where rank 0 runs",
                why="rank 0 listens there for the others",
                fix="set it to an address of the host that runs rank 0",
            ) from None
        raise MeetingError(
            f"cannot listen on {address}:{port}: {error}", fix=f"choose a different port: {port_from}"
        ) from error


def _one_line(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in printable(text))[:300]
