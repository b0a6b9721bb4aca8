"""What a check is: a fact gathered on each host, judged host by host, and compared between hosts.

Gathering happens on the host, judging where `hvdkit doctor` was typed: a host sends facts, not opinions,
and a fact is whatever JSON can carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hvdkit.examination.finding import Finding


@dataclass(frozen=True)
class Target:
    """How a host of the job is reached by the others: address and the ports that its doctor listens on.

    address is "" where no network leads to it from all hosts. has_ssh: ranks are started there.
    """

    address: str
    ports: tuple[int, ...]
    has_ssh: bool = True


@dataclass(frozen=True)
class Request:
    """What the checks of one host are asked about.

    host: its name in the job ("" for this machine alone). slots: ranks that it takes. ranks: of the job.
    script: the training script ("" for none). ctrl_port: 0 for none. ctrl_port_error: why it could not be
    bound on this host. peers: the other hosts. ssh: options for ssh between hosts. interface: the one that
    the other hosts reach ("" where that is not known).
    """

    host: str = ""
    slots: int = 1
    ranks: int = 1
    script: str = ""
    ctrl_port: int = 0
    ctrl_port_error: str = ""
    peers: Mapping[str, Target] = field(default_factory=dict)
    ssh: tuple[str, ...] = ()
    interface: str = ""

    def as_json(self) -> dict[str, Any]:
        """JSON-ready; `from_json` takes it back."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Request:
        """The request that `as_json` made."""
        peers = {
            name: Target(target["address"], tuple(target["ports"]), target["has_ssh"])
            for name, target in data["peers"].items()
        }
        return Request(**{**data, "peers": peers, "ssh": tuple(data["ssh"])})


Judge = Callable[[Any, Request], Iterable[Finding]]
Compare = Callable[[Mapping[str, Any], Mapping[str, Request]], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """One check.

    gather: makes the fact, on the host. fact: id of another check whose fact is used instead.
    judge: one host's fact. compare: the facts of several hosts, by name, and what each was asked.
    timeout_s: for the gathering; a host that needs longer is reported and the others go on.
    """

    id: str
    title: str
    gather: Callable[[Request], Any] | None = None
    fact: str = ""
    judge: Judge | None = None
    compare: Compare | None = None
    timeout_s: float = 20.0

    @property
    def source(self) -> str:
        """Id of the check that gathers this one's fact."""
        return self.fact or self.id


def differing(facts: Mapping[str, Any]) -> str:
    """ "a has 1, b has 2" where the values are not all equal, else ""."""
    if len({repr(value) for value in facts.values()}) < 2:
        return ""
    return ", ".join(f"{host} has {'none' if value is None else value}" for host, value in facts.items())
