"""The control port, where one is named, and the range from which all other ports are taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, error, ok, warning

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def gather(request: Request) -> dict[str, Any]:
    """Why the control port could not be bound ("" if it could), and the range of ephemeral ports."""
    first, last = _RANGE.read_text(encoding="ascii").split()
    return {"taken": request.ctrl_port_error, "range": [int(first), int(last)]}


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """The port is free; the range holds what the ranks of this host need."""
    if fact["taken"]:
        yield error(
            f"port {request.ctrl_port} is taken ({fact['taken']})",
            "the ranks connect there; an older job may still hold it",
            f"`ss -ltnp sport = :{request.ctrl_port}` names its holder; or use a different port",
        )
    count = fact["range"][1] - fact["range"][0] + 1
    needed = 8 * request.ranks * request.slots
    if count < needed:
        yield warning(
            f"{count} ephemeral ports",
            f"{request.slots} ranks of {request.ranks} may need {needed} connections",
            "sysctl -w net.ipv4.ip_local_port_range='32768 60999'",
        )
    elif not fact["taken"]:
        yield ok(f"port {request.ctrl_port} is free" if request.ctrl_port else "enough ephemeral ports")


CHECK = Check("port", "ports", gather, judge=judge)
