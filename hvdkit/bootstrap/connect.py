"""What happens around Horovod's init: the ranks of a launcher that Horovod does not know meet, and are told.

Rank 0 listens on the control port until all have come, makes the plan, and lends the port to Horovod's
rendezvous for as long as it is needed. The others ask until they have their slot.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping
from types import ModuleType
from typing import Any

from hvdkit.bootstrap import control, network, secret
from hvdkit.bootstrap.cluster import started_by_file
from hvdkit.bootstrap.environment import CONTROL_PORT, slot_variables, start_seconds
from hvdkit.bootstrap.errors import LaunchEnvironmentError, MeetingError
from hvdkit.bootstrap.launch import Launch, Meeting
from hvdkit.bootstrap.launchers import meeting_of, read_launches
from hvdkit.bootstrap.members import Member, Members, as_messages, plan
from hvdkit.bootstrap.messages import Line, Message, SecretError

_POLL_SECONDS = 0.1
# How long rank 0 stays to tell the others why it gives up.
_FAREWELL_SECONDS = 5.0


class _Connected:
    """What this process set and started for the running job; a second init begins again."""

    def __init__(self) -> None:
        self.variables: dict[str, str] = {}
        self.count = 0
        self.host: _Host | None = None


_connected = _Connected()


@contextlib.contextmanager
def connected(horovod: ModuleType, comm: Any, process_sets: Any) -> Iterator[tuple[Launch, ...]]:
    """Surrounds `horovod.init(comm, process_sets)`: before it the ranks meet, after it the port is closed.

    The block gets what the launchers say. Nothing is done where Horovod finds its own way: a communicator is
    given, horovodrun or MPI started the process, there is one rank, or Horovod is initialised already.

    Args:
        horovod: horovod.torch or horovod.tensorflow.
        comm, process_sets: what Horovod's init is given.

    Raises:
        LaunchEnvironmentError: the environment is half set, wrong, or contradicts itself.
        MeetingError: a rank did not come in time, the port is taken, or a different job answers on it.
    """
    environ = os.environ
    again = not horovod.is_initialized()
    if again:
        _forget(environ)
    if again and comm is None:
        started_by_file(environ)
    launches = read_launches(environ, mpi_built=bool(horovod.mpi_built()))
    meeting = meeting_of(environ, launches) if again and comm is None else None
    if meeting is None:
        yield launches
        return
    _refuse_contradictions(environ, launches[0], bool(horovod.gloo_built()))
    seconds = start_seconds(environ)
    _connected.count += 1
    member = _member(launches[0])
    job = f"{meeting.job}/{_connected.count}"
    # Process sets that are made later meet on the same port: it stays open, for the addresses of the job.
    stays_open = process_sets == "dynamic" or environ.get("HOROVOD_DYNAMIC_PROCESS_SETS") == "1"
    if member.rank == 0:
        host = _connected.host = _Host(meeting, job, member, seconds)
        try:
            _set(environ, host.wait_for_all(), host.address, meeting.port)
            yield launches
        except BaseException:
            host.server.stop()
            raise
        if not stays_open:
            host.stop_after_all()
    else:
        guest = _Guest(meeting, job, member, seconds)
        _set(environ, guest.slot(), guest.address, meeting.port)
        yield launches
        guest.finished()


class _Host:
    """Rank 0's side."""

    def __init__(self, meeting: Meeting, job: str, member: Member, seconds: float) -> None:
        self.members = Members(member.size, meeting.nodes)
        self.seconds = seconds
        self.member = member
        self.address = _resolve(meeting, member, time.monotonic() + seconds)
        known = secret.of_job(os.environ)
        self.server = control.listen(
            self.address,
            meeting.port,
            job,
            known,
            self.members.answer,
            said_by=meeting.said_by,
            port_from=f"{CONTROL_PORT}=PORT",
        )
        self.server.start()
        if not known and not self.address.startswith("127."):
            until = "join this job or end it until all ranks are through init()"
            line = secret.warning(self.address, meeting.port, "every process", until)
            print(f"hvdkit: {line}", file=sys.stderr, flush=True)

    def wait_for_all(self) -> Message:
        """Rank 0's slot, when every rank has come. Raises: MeetingError, after the others were told."""
        members = self.members
        _said(members.answer(_message("join", self.member), self.address))
        with members.changed:
            members.changed.wait_for(lambda: members.error or not members.missing(), self.seconds)
            try:
                if members.error is None and members.missing():
                    raise members.absent(self.seconds)
                if members.error is not None:
                    raise members.error
                slots = plan(members.came)
            except MeetingError as error:
                members.error = error
                members.told = {0}
                members.changed.wait_for(lambda: members.told >= set(members.came), _FAREWELL_SECONDS)
                raise
            self.server.admit(slots, frozenset(members.addresses.values()))
            members.plan = as_messages(slots)
            return members.plan[0]

    def stop_after_all(self) -> None:
        """Close the port when all ranks are through Horovod's init; nobody waits for that here."""
        self.members.answer(_message("done", self.member), self.address)
        threading.Thread(target=self._stop_after_all, daemon=True, name="hvdkit-control-stop").start()

    def _stop_after_all(self) -> None:
        members = self.members
        with members.changed:
            members.changed.wait_for(lambda: len(members.finished) == members.size, self.seconds)
        self.server.stop()


class _Guest:
    """The side of every other rank."""

    def __init__(self, meeting: Meeting, job: str, member: Member, seconds: float) -> None:
        self.meeting = meeting
        self.job = job
        self.member = member
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.address = ""
        self.line: Line | None = None

    def slot(self) -> Message:
        """This rank's slot. Raises: MeetingError: rank 0 is not there, or says that something is wrong."""
        self.address = _resolve(self.meeting, self.member, self.deadline)
        self.line = Line(self.address, self.meeting.port, self.job, secret.of_job(os.environ))
        last: OSError | None = None
        while time.monotonic() < self.deadline:
            try:
                slot = _said(self._ask("join"))
                last = None
                if slot is not None:
                    return slot
                # Rank 0 keeps the bound, and may have begun later: it will say who is missing.
                self.deadline = max(self.deadline, time.monotonic() + _FAREWELL_SECONDS)
            except SecretError as error:
                raise MeetingError(
                    f"rank 0 at {self.meeting.root} does not take {self.member}: {error}",
                    why="every rank of a job proves that it knows the job's secret",
                    fix=f"set {secret.SECRET} or {secret.SECRET_FILE} to the same on all hosts",
                ) from None
            except OSError as error:
                last = error
            time.sleep(_POLL_SECONDS)
        place = f"{self.meeting.root} ({self.address}), port {self.meeting.port}"
        raise MeetingError(
            f"{self.member} got no answer from rank 0 at {place} within {self.seconds:g} s: "
            f"{last or 'it answers, but the job is not complete'}",
            why="rank 0 gives the others the list of ranks",
            fix=f"start rank 0, open the port, or use a different one on all nodes: {CONTROL_PORT}=PORT",
        )

    def finished(self) -> None:
        """Tell rank 0 that this rank needs the port no more."""
        # Rank 0 may be gone already, with its port: then there is nothing left to close.
        with contextlib.suppress(OSError):
            self._ask("done")

    def _ask(self, say: str) -> Message:
        assert self.line is not None, "slot() comes first"
        return self.line.ask(_message(say, self.member))


def _set(environ: MutableMapping[str, str], slot: Message, address: str, port: int) -> None:
    variables = slot_variables(slot, address, port)
    # NCCL guesses an interface, too; one that was chosen by hand stays.
    interface = variables.get("HOROVOD_GLOO_IFACE", "lo")
    if interface != "lo" and "NCCL_SOCKET_IFNAME" not in environ:
        variables["NCCL_SOCKET_IFNAME"] = f"={interface}"
    if "HOROVOD_GLOO_IFACE" in environ:
        variables.pop("HOROVOD_GLOO_IFACE", None)
    environ.update(variables)
    _connected.variables = variables


def _forget(environ: MutableMapping[str, str]) -> None:
    """Before another init: what the last one set is not what a launcher said."""
    if _connected.host is not None:
        _connected.host.server.stop()
        _connected.host = None
    for name, value in _connected.variables.items():
        if environ.get(name) == value:
            del environ[name]
    _connected.variables = {}


def _refuse_contradictions(environ: MutableMapping[str, str], launch: Launch, gloo_built: bool) -> None:
    if not gloo_built:
        raise LaunchEnvironmentError(
            f"{launch.launcher} started this process, and this Horovod was built without Gloo",
            why="without MPI's launcher the ranks of a job connect through Gloo",
            fix="run `hvdkit install-horovod`, or start the job with horovodrun or mpirun",
        )
    for name in ("HOROVOD_CONTROLLER", "HOROVOD_CPU_OPERATIONS"):
        value = environ.get(name, "gloo")
        if value.lower() != "gloo":
            raise LaunchEnvironmentError(
                f"{name}={value} contradicts {launch.launcher}, which started this process",
                why="without MPI's launcher the ranks of a job connect through Gloo",
                fix=f"unset {name}, or start the job with horovodrun --mpi or mpirun",
            )


def _member(launch: Launch) -> Member:
    return Member(
        launch.rank, launch.size, launch.size_variable, socket.gethostname(), network.machine(), os.getpid()
    )


def _message(say: str, member: Member) -> Message:
    return {"say": say, "member": vars(member)}


def _said(reply: Message) -> Message | None:
    """The slot in rank 0's answer, None while others are missing. Raises: MeetingError, as rank 0 says."""
    if "error" in reply:
        raise MeetingError(**reply["error"])
    slot = reply["slot"]
    return dict(slot) if slot else None


def _resolve(meeting: Meeting, member: Member, deadline: float) -> str:
    """Rank 0's address. In Kubernetes its name exists only when its pod runs: ask until then."""
    while True:
        try:
            return network.resolve(meeting.root)
        except OSError as error:
            if time.monotonic() > deadline:
                raise MeetingError(
                    f"{member} cannot resolve {meeting.root}, rank 0's host ({meeting.said_by}): {error}",
                    why="rank 0 gives the others the list of ranks",
                    fix=f"make {meeting.root} known on {member.host} (DNS or /etc/hosts), or use its address",
                ) from None
            time.sleep(_POLL_SECONDS)
