"""How a node of a node list talks to the others: node 0 holds the board, the others ask it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import time
from dataclasses import asdict, dataclass
from typing import Any

from hvdkit.bootstrap import control
from hvdkit.bootstrap.board import SILENCE_SECONDS, Board, Failure
from hvdkit.bootstrap.errors import JobFailedError, MeetingError
from hvdkit.bootstrap.messages import Line, Message, OtherJobError, SecretError
from hvdkit.bootstrap.secret import Secret
from hvdkit.hosts.lists import HostList

_LOOK_SECONDS = 0.1
_FAREWELL_SECONDS = 3.0
# So long another program may answer on the control port, such as a job that is about to end. Node 0 itself
# ends at once when it finds the port taken.
_TAKEN_SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    """A node list as one node sees it. place: its own number. addresses: of all nodes. port: node 0's."""

    hosts: HostList
    place: int
    addresses: tuple[str, ...]
    port: int
    seconds: float
    secret: Secret

    @property
    def address(self) -> str:
        """Node 0's, on which the control port is."""
        return self.addresses[0]

    @property
    def name(self) -> str:
        """The same on every node that was given the same list."""
        listed = f"{self.hosts.argument}/{self.hosts.ctrl_port}"
        return f"nodes/{hashlib.sha256(listed.encode()).hexdigest()[:16]}"

    @property
    def first_rank(self) -> int:
        """The number of this node's first rank."""
        return sum(host.slots for host in self.hosts.hosts[: self.place])


class Home:
    """Node 0's way to the board: its own."""

    def __init__(self, job: Job, board: Board) -> None:
        self.job = job
        self.board = board
        self.server: control.ControlServer | None = None

    def open(self) -> None:
        """Listen. Raises: MeetingError, if the port is taken or the address is not this machine's."""
        self.server = control.listen(
            self.job.address,
            self.job.port,
            self.job.name,
            self.job.secret,
            self.board.answer,
            said_by=f"node 0 of the node list ({self.job.hosts.hosts[0].name})",
            port_from="ctrl_port",
        )
        self.server.start()

    @property
    def port(self) -> int:
        """Of the control port; chosen by the kernel where the list names none for its only node."""
        assert self.server is not None
        return int(self.server.server_port)

    def say(self, done: bool = False, failure: Failure | None = None) -> Message:
        """The board's answer. The first time that all nodes are there, Horovod's ranks are let in."""
        reply = self.board.answer(_message(self.job, done, failure), self.job.address)
        if not self.board.go and not reply["stop"] and not self.board.missing():
            assert self.server is not None
            self.server.admit(plan(self.job), frozenset(self.board.addresses.values()))
            self.board.go = reply["go"] = True
        if reply["stop"]:
            self._wait_until_told()
        return reply

    def is_over(self) -> bool:
        """Whether all ranks of all nodes ended well."""
        return len(self.board.done) == len(self.board.hosts)

    def waits_for(self) -> str:
        """Who has not come, for a message."""
        return ", ".join(self.board.missing())

    def farewell(self, reason: str) -> None:
        """Tell the others why this node ends."""
        self.board.stop = self.board.stop or reason
        self._wait_until_told()

    def _wait_until_told(self) -> None:
        deadline = time.monotonic() + _FAREWELL_SECONDS
        self.board.told.add(0)
        while time.monotonic() < deadline and not self.board.all_told():
            time.sleep(_LOOK_SECONDS)
            self.board.look()

    def close(self) -> None:
        """Free the control port."""
        if self.server is not None:
            self.server.stop()


class Away:
    """The way of every other node: over the control port."""

    def __init__(self, job: Job, board: Board) -> None:
        self.job = job
        self.board = board
        self.port = job.port
        self.line = Line(job.address, job.port, job.name, job.secret)
        self.heard = time.monotonic()
        self.taken: float | None = None
        self.deadline = self.heard + job.seconds
        self.came = False
        self.said_done = False
        self.last: OSError | None = None

    def open(self) -> None:
        """Nothing to open: `say` connects."""

    def say(self, done: bool = False, failure: Failure | None = None) -> Message:
        """What node 0 answers; nothing new while it does not. Raises: MeetingError, JobFailedError."""
        try:
            reply = self.line.ask(_message(self.job, done, failure))
        except OSError as error:
            self.last = error
            return self._unheard()
        if "refused" in reply:
            raise MeetingError(reply["refused"], why=reply["why"], fix=reply["fix"])
        self.heard = time.monotonic()
        self.came = True
        self.said_done = done
        return reply

    def _unheard(self) -> Message:
        zero = self.board.name(0)
        self._refuse_others(zero)
        if self.came and time.monotonic() - self.heard > SILENCE_SECONDS:
            raise JobFailedError(
                f"no message from {zero} for {SILENCE_SECONDS:g} s: {self.last}",
                why="the ranks of this node wait for its ranks",
                fix=f"check the output of node 0; hvdkit doctor -H {self.job.hosts.hosts[0].name}",
            )
        if not self.came and time.monotonic() > self.deadline:
            raise MeetingError(
                f"{zero} sent no message within {self.job.seconds:g} s, on port {self.port}: {self.last}",
                why="node 0 signals the others when all nodes are ready",
                fix="start the script there, open the port, or use a different ctrl_port",
            )
        return {"go": False, "stop": ""}

    def _refuse_others(self, zero: str) -> None:
        """Before node 0 was heard: whether something else has its port. Raises: MeetingError."""
        if self.came or not isinstance(self.last, OtherJobError):
            self.taken = None
            return
        self.taken = time.monotonic() if self.taken is None else self.taken
        if isinstance(self.last, SecretError):
            raise MeetingError(
                f"{zero}, port {self.port}, does not take this node: {self.last}",
                why="every node of a job proves that it knows the job's secret",
                fix="copy the file of the secret from node 0, or set HVDKIT_SECRET to the same on all nodes",
            )
        if time.monotonic() - self.taken > _TAKEN_SECONDS:
            raise MeetingError(
                f"port {self.port} of {zero} is taken: {self.last}",
                why="node 0 listens there for the others",
                fix="end what is on it, or take another ctrl_port on all nodes",
            )

    def is_over(self) -> bool:
        """Whether node 0 knows that this node's ranks ended well: it waits for the rest."""
        return self.said_done

    def waits_for(self) -> str:
        """Who has not come, as far as this node knows."""
        return "the other nodes" if self.came else f"{self.board.name(0)}, port {self.port}"

    def farewell(self, reason: str) -> None:
        """Tell node 0 why this node ends."""
        # If node 0 does not hear it, it finds this node silent.
        with contextlib.suppress(OSError):
            self.line.ask(_message(self.job, False, Failure(reason, by_signal=True)))

    def close(self) -> None:
        """Nothing is open."""


def plan(job: Job) -> list[Any]:
    """A slot (horovod.runner's SlotInfo) for each rank of the job."""
    from horovod.runner.common.util.hosts import HostInfo, get_host_assignments

    hosts = [HostInfo(host.name, host.slots) for host in job.hosts.hosts]
    return list(get_host_assignments(hosts, job.hosts.slots))


def _message(job: Job, done: bool, failure: Failure | None) -> Message:
    return {
        "node": job.place,
        "who": f"process {os.getpid()} on {socket.gethostname()}",
        "done": done,
        "failure": asdict(failure) if failure else None,
    }
