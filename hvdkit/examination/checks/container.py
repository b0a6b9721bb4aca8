"""A container whose network the other hosts cannot reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, note, ok, warning
from hvdkit.hosts.interfaces import own

_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


def gather(request: Request) -> dict[str, Any]:
    """Whether this is a container, and the addresses that it has itself."""
    return {"container": any(mark.exists() for mark in _MARKS), "addresses": [each.address for each in own()]}


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """The container has an address that the hosts of the job use: its network is the host's, or routed."""
    if not fact["container"]:
        yield ok("not a container, or one that its engine does not mark")
    elif request.peers and not request.interface:
        yield warning(
            f"a container with its own network ({', '.join(fact['addresses'])})",
            "other hosts reach the machine and not the container: ranks cannot connect",
            "docker run --network host",
        )
    elif request.peers:
        yield ok("a container that the other hosts can reach")
    else:
        yield note(
            "a container", "for a job over several hosts it has to use the host's network", "--network host"
        )


CHECK = Check("container", "container network", gather, judge=judge)
