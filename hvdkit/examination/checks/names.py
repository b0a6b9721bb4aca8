"""Host names: each host has its own, and each name resolves on every host to the same machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, error, ok


def gather(request: Request) -> dict[str, Any]:
    """This machine's own name, and the address that each peer's name has here (None: none)."""
    return {"own": socket.gethostname(), "peers": {peer: _resolve(peer) for peer in request.peers}}


def _resolve(name: str) -> str | None:
    try:
        return socket.gethostbyname(name)
    except OSError:
        return None


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """Every peer has an address that is not this machine."""
    for peer, address in fact["peers"].items():
        wanted = request.peers[peer].address or "ADDRESS"
        line = f"on {request.host}: echo '{wanted} {peer}' >> /etc/hosts"
        if address is None:
            yield error(
                f"{peer} does not resolve on {request.host}",
                "ranks there cannot connect to it: Gloo dies with `Unable to find address for`",
                line,
            )
        elif address.startswith("127."):
            yield error(
                f"{peer} is {address} on {request.host}",
                "ranks there would connect to themselves",
                f"{line}, instead of the line with {address}",
            )
    if request.peers and all(fact["peers"].values()):
        yield ok(f"{', '.join(f'{peer} is {at}' for peer, at in fact['peers'].items())}")


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """No two machines call themselves the same."""
    owners: dict[str, list[str]] = {}
    for host, fact in facts.items():
        owners.setdefault(fact["own"], []).append(host)
    for name, hosts in owners.items():
        if len(hosts) > 1:
            yield error(
                f"{' and '.join(hosts)} both call themselves {name}",
                "MPI and NCCL treat them as one machine, use shared memory between them, and crash",
                " && ".join(f"ssh {host} hostnamectl set-hostname {host}" for host in hosts[1:]),
            )


CHECK = Check("names", "host names", gather, judge=judge, compare=compare)
