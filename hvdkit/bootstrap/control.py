"""The control port: Horovod's own rendezvous server, which also answers the questions of this job's members.

Members (ranks, or the processes that start a node's ranks) ask with `ask`; Horovod's C++ side uses the rest.
Bound to one address. Whoever asks must name the job; Horovod's own store is open only to addresses that were
let in, and nothing that comes in is ever unpickled.
"""

from __future__ import annotations

import errno
import http.client
import json
import socket
import threading
from collections.abc import Callable
from typing import Any

from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

from hvdkit.bootstrap.errors import MeetingError

# What a member says to the job, and hears; JSON objects.
Message = dict[str, Any]
Answer = Callable[[Message, str], Message]

REQUEST_SECONDS = 3.0
_REUSE = (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
_PATH = "/hvdkit"
_MOST_BYTES = 1 << 20  # of one message; an address of Gloo has some hundred


class OtherJobError(OSError):
    """Somebody answers on the control port, and it is not this job."""


class _Handler(RendezvousHandler):  # type: ignore[misc]
    # ruff: noqa: N802  the names are http.server's
    server: ControlServer

    def do_POST(self) -> None:
        body = self._body()
        try:
            message = json.loads(body) if body is not None and self.path == _PATH else None
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self.send_status_code(400)
        elif message.get("job") != self.server.job:
            self.send_status_code(409)
        else:
            reply = json.dumps(self.server.answer(message, self.client_address[0])).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    def do_GET(self) -> None:
        if self._let_in():
            super().do_GET()

    def do_PUT(self) -> None:
        if self._let_in():
            super().do_PUT()

    def do_DELETE(self) -> None:
        if self._let_in():
            super().do_DELETE()

    def _let_in(self) -> bool:
        known = self.client_address[0] in self.server.members and self.path.count("/") == 2
        if not known or self._length() > _MOST_BYTES:
            self.send_status_code(403)
            return False
        return True

    def _body(self) -> bytes | None:
        length = self._length()
        if not 0 <= length <= _MOST_BYTES:
            return None
        try:
            return bytes(self.rfile.read(length))
        except OSError:
            return None  # it stopped in the middle; the handler closes the connection

    def _length(self) -> int:
        length = self.headers.get("Content-Length", "0")
        return int(length) if length.isdecimal() else -1


class ControlServer(RendezvousHTTPServer):  # type: ignore[misc]
    """Horovod's rendezvous server on one address. members: the addresses that may use its store."""

    daemon_threads = True
    # Ranks come all at once: socketserver's five in the queue would be refused or retried after a second.
    request_queue_size = 1024

    def __init__(self, address: str, port: int, job: str, answer: Answer) -> None:
        self.job = job
        self.answer = answer
        self.members: frozenset[str] = frozenset()
        self._address = (address, port)
        self._stopping = threading.Lock()
        self._thread: threading.Thread | None = None
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


def listen(
    address: str, port: int, job: str, answer: Answer, *, said_by: str, port_from: str
) -> ControlServer:
    """Bind the control port on an address of this host.

    said_by, port_from: what gave address and port, for the message.
    Raises: MeetingError: the port is taken, or the address is not this host's.
    """
    try:
        return ControlServer(address, port, job, answer)
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


def ask(address: str, port: int, message: Message) -> Message:
    """Say something to the job that listens on a control port, and return its answer.

    Raises:
        OtherJobError: what listens there is not this job, or not hvdkit.
        OSError: nothing answered within `REQUEST_SECONDS`.
    """
    connection = http.client.HTTPConnection(address, port, timeout=REQUEST_SECONDS)
    try:
        connection.request("POST", _PATH, json.dumps(message))
        response = connection.getresponse()
        body = response.read()
    except http.client.HTTPException as error:
        raise OtherJobError(f"the server there does not speak HTTP: {error!r}") from error
    finally:
        connection.close()
    if response.status == 409:
        raise OtherJobError("a different job answers there")
    try:
        reply = json.loads(body) if response.status == 200 else None
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise OtherJobError(f"the server there is not hvdkit (status {response.status})")
    return reply
