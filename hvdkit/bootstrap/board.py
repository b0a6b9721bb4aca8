"""What node 0 knows of all nodes of a node list: who came, who is silent, what failed, why it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hvdkit.bootstrap import messages
from hvdkit.bootstrap.messages import MalformedError, Message
from hvdkit.hosts.lists import Host

# A node says something every second. One that says nothing for so long is taken for lost: longer than a
# short stall of a network or a busy machine, shorter than a person waits.
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 20.0
# When a rank dies, ranks on other nodes fail because of it: so long all may report before the cause is named.
_GRACE_SECONDS = 0.5
_KEYS = {"node", "who", "done", "failure", "session", "number"}


@dataclass(frozen=True)
class Failure:
    """How a rank ended. by_signal: it was killed, so it is a cause rather than a consequence."""

    text: str
    by_signal: bool


@dataclass
class Board:
    """The state of a job on several nodes; safe to call from several threads.

    A node says: its number, who it is, whether its ranks are done, and a failure if there was one. It hears:
    whether to go, and why to stop.

    listed: the address of each node, where nothing else tells a node from a stranger: others are refused.
    """

    hosts: Sequence[Host]
    seconds: float
    listed: Sequence[str] = ()
    clock: Callable[[], float] = time.monotonic
    seen: dict[int, float] = field(default_factory=dict)
    who: dict[int, str] = field(default_factory=dict)
    addresses: dict[int, str] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    failures: list[tuple[float, int, Failure]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    told: set[int] = field(default_factory=set)
    stop: str = ""
    go: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._deadline = self.clock() + self.seconds

    def answer(self, message: Message, address: str) -> Message:
        """The control port's answer to the node at an address. Raises: MalformedError."""
        if set(message) - _KEYS:
            raise MalformedError("it has keys that no node sends")
        node = messages.number(message, "node", 0, len(self.hosts) - 1)
        who, done = messages.text(message, "who"), messages.flag(message, "done")
        failure = None
        if message.get("failure") is not None:
            told = messages.part(message, "failure")
            failure = Failure(messages.text(told, "text"), messages.flag(told, "by_signal"))
        with self.lock:
            if self.listed and address != self.listed[node]:
                return {
                    "refused": f"{self.name(node)} is {self.listed[node]} here, and asked from {address}",
                    "why": "without a secret its address alone tells a node from a stranger",
                    "fix": f"list {address} in its place, or give the job a secret: HVDKIT_SECRET_FILE=FILE",
                }
            if self.who.setdefault(node, who) != who:
                return {
                    "refused": f"{self.name(node)} is already in this job: {self.who[node]}",
                    "why": "every node is started once; or a second job is running with this node list",
                    "fix": "start it once on each node, or give the second job a different ctrl_port",
                }
            self.seen[node] = self.clock()
            self.addresses[node] = address
            if done:
                self.done.add(node)
            if failure and not any(node == other for _, other, _ in self.failures):
                self.failures.append((self.clock(), node, failure))
            self.look()
            if self.stop:
                self.told.add(node)
            return {"go": self.go, "stop": self.stop}

    def look(self) -> None:
        """Bring `go` and `stop` up to date."""
        with self.lock:
            now = self.clock()
            self.lost = {
                node
                for node, last in self.seen.items()
                if node not in self.done and now - last > SILENCE_SECONDS
            }
            self.stop = self.stop or self._absent(now) or self._silent() or self._failed(now)

    def missing(self) -> list[str]:
        """The nodes that have not come."""
        with self.lock:
            return [self.name(node) for node in range(len(self.hosts)) if node not in self.seen]

    def all_told(self) -> bool:
        """Whether every node that is still there knows why the job ends."""
        with self.lock:
            return self.told | self.done | self.lost >= set(self.seen)

    def name(self, node: int) -> str:
        """As messages call it: its number, its address and its ranks."""
        first = sum(host.slots for host in self.hosts[:node])
        last = first + self.hosts[node].slots - 1
        ranks = f"rank {first}" if first == last else f"ranks {first} to {last}"
        return f"node {node} ({self.hosts[node].name}, {ranks})"

    def _absent(self, now: float) -> str:
        if now <= self._deadline or not self.missing():
            return ""
        return f"{', '.join(self.missing())} did not connect within {self.seconds:g} s"

    def _silent(self) -> str:
        if not self.lost:
            return ""
        names = ", ".join(self.name(node) for node in sorted(self.lost))
        return f"no message from {names} for {SILENCE_SECONDS:g} s"

    def _failed(self, now: float) -> str:
        if not self.failures:
            return ""
        # Not before every other node has spoken or is lost: its rank may have been the first to fail.
        first = min(at for at, _, _ in self.failures)
        failed = {node for _, node, _ in self.failures}
        waiting = set(self.seen) - failed - self.done
        if now < first + _GRACE_SECONDS or any(self.seen[node] <= first for node in waiting):
            return ""
        cause = min(self.failures, key=lambda each: (not each[2].by_signal, each[0]))
        return cause[2].text
