"""The ranks of a job while they come together, as rank 0 keeps them; and the plan when all are there."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, field
from typing import Any

from hvdkit.bootstrap import messages
from hvdkit.bootstrap.errors import MeetingError
from hvdkit.bootstrap.messages import MalformedError, Message

# Horovod's Gloo controller takes the ranks of one host for a row of numbers.
_MOST_RANKS = 1 << 20
_KEYS = {"say", "member", "session", "number"}
_NOT_IN_A_ROW = "Horovod's Gloo controller requires ranks of one host to be numbered consecutively"


@dataclass(frozen=True)
class Member:
    """One rank, as it describes itself. machine: what tells its host from one of the same name."""

    rank: int
    size: int
    size_variable: str
    host: str
    machine: str
    pid: int

    def __str__(self) -> str:
        return f"rank {self.rank} (process {self.pid} on {self.host})"


@dataclass
class Members:
    """Who has come, of `size` ranks. Answers to join and done messages; safe to call from several threads."""

    size: int
    nodes: str = ""
    came: dict[int, Member] = field(default_factory=dict)
    addresses: dict[int, str] = field(default_factory=dict)
    turned_away: list[Member] = field(default_factory=list)
    plan: list[Message] | None = None
    error: MeetingError | None = None
    finished: set[int] = field(default_factory=set)
    told: set[int] = field(default_factory=set)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, message: Message, address: str) -> Message:
        """The control port's answer to one rank at an address. Raises: MalformedError."""
        if set(message) - _KEYS or message.get("say") not in ("join", "done"):
            raise MalformedError("it says what no rank says")
        member = _member(messages.part(message, "member"))
        if member.rank >= member.size == self.size:
            raise MalformedError(f"the job has no rank {member.rank}")
        with self.changed:
            if self.plan is not None and self.came.get(member.rank) is None:
                raise MalformedError(f"the job is complete without a rank {member.rank}")
            self._join(member, address)
            if message["say"] == "done":
                self.finished.add(member.rank)
            self.changed.notify_all()
            if self.came[member.rank] != member:
                return {"error": vars(self._taken(member))}
            self.told.add(member.rank)
            if self.error is not None:
                return {"error": vars(self.error)}
            return {"slot": self.plan[member.rank] if self.plan else None}

    def missing(self) -> list[int]:
        """Ranks that have not come."""
        return [rank for rank in range(self.size) if rank not in self.came]

    def absent(self, seconds: float) -> MeetingError:
        """What to say when not all have come in time."""
        by_host: dict[str, list[int]] = {}
        for rank in sorted(self.came):
            by_host.setdefault(self.came[rank].host, []).append(rank)
        came = "; ".join(f"{host}: {_numbers(ranks)}" for host, ranks in by_host.items())
        missing = _numbers(self.missing())
        again = "".join(f"; rejected: {member}, its rank was already taken" for member in self.turned_away)
        nodes = f" (nodes: {self.nodes})" if self.nodes else ""
        return MeetingError(
            f"of {self.size} ranks, {missing} did not connect within {seconds:g} s{nodes}; connected: "
            f"{came}{again}",
            why="a job starts when all of its ranks are connected",
            fix="check the output of the missing ranks' hosts; HVDKIT_START_TIMEOUT=SECONDS waits longer",
        )

    def _join(self, member: Member, address: str) -> None:
        if member.size != self.size and self.error is None and self.plan is None:
            self.error = MeetingError(
                f"{member} has {member.size_variable}={member.size}, rank 0 has {self.size}",
                why="all ranks of a job have the same world size",
                fix=f"set {member.size_variable} to the same number on all nodes",
            )
        if member.rank in self.came:
            if self.came[member.rank] != member and member not in self.turned_away:
                self.turned_away.append(member)
            return
        self.came[member.rank] = member
        self.addresses[member.rank] = address

    def _taken(self, member: Member) -> MeetingError:
        there = self.came[member.rank]
        return MeetingError(
            f"process {member.pid} on {member.host} has rank {member.rank}, which is already connected: "
            f"{there}",
            why="every process of a job has its own rank; or a second job was started on this port",
            fix="give each process its own rank, or the second job a different port: HVDKIT_CTRL_PORT",
        )


def _member(told: Message) -> Member:
    """A rank as it describes itself. Raises: MalformedError."""
    if set(told) != {"rank", "size", "size_variable", "host", "machine", "pid"}:
        raise MalformedError("it describes no rank")
    size = messages.number(told, "size", 1, _MOST_RANKS)
    return Member(
        messages.number(told, "rank", 0, _MOST_RANKS),
        size,
        messages.text(told, "size_variable"),
        messages.text(told, "host"),
        messages.text(told, "machine"),
        messages.number(told, "pid", 1, 1 << 31),
    )


def plan(members: dict[int, Member]) -> list[Any]:
    """A slot (horovod.runner's SlotInfo) for each rank: local ranks count on a host, cross ranks over hosts.

    Raises: MeetingError: the ranks of a host are not numbered in a row.
    """
    from horovod.runner.common.util.hosts import HostInfo, get_host_assignments

    hosts: list[HostInfo] = []
    names: dict[str, str] = {}
    previous = ""
    for rank in range(len(members)):
        member = members[rank]
        if member.machine == previous:
            hosts[-1].slots += 1
            continue
        if member.machine in names:
            raise MeetingError(
                f"{member} is not on the host of {members[rank - 1]}, but on that of an earlier rank",
                why=_NOT_IN_A_ROW,
                fix="number the ranks host by host; with Slurm: srun --distribution=block",
            )
        twins = sum(each.rpartition("/")[2] == member.host for each in names)
        names[member.machine] = f"{member.host}-{twins + 1}" if twins else member.host
        hosts.append(HostInfo(names[member.machine], 1))
        previous = member.machine
    return list(get_host_assignments(hosts, len(members)))


def as_messages(slots: list[Any]) -> list[Message]:
    """The slots as they travel."""
    return [asdict(slot) for slot in slots]


def _numbers(ranks: list[int]) -> str:
    return f"rank{'s' if len(ranks) != 1 else ''} {', '.join(map(str, ranks))}"
