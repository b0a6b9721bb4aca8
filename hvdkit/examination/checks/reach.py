"""TCP between the hosts, both ways: Horovod takes its ports as they come, so all must be open."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, error, ok

_TIMEOUT_S = 4.0


def gather(request: Request) -> dict[str, str]:
    """Each port of a peer that cannot be reached, as "ADDRESS:PORT of PEER", and the reason."""
    places = [
        (peer, target.address, port)
        for peer, target in request.peers.items()
        for port in target.ports
        if target.address
    ]
    if not places:
        return {}
    with ThreadPoolExecutor(len(places)) as pool:
        answers = list(pool.map(lambda place: _try(place[1], place[2]), places))
    return {
        f"{address}:{port} of {peer}": answer
        for (peer, address, port), answer in zip(places, answers)
        if answer
    }


def _try(address: str, port: int) -> str:
    try:
        socket.create_connection((address, port), timeout=_TIMEOUT_S).close()
    except OSError as problem:
        return str(problem.strerror or problem)
    return ""


def judge(failures: dict[str, str], request: Request) -> Iterator[Finding]:
    """All are open."""
    for place, reason in failures.items():
        peer = place.rpartition(" ")[2]
        yield error(
            f"{request.host} cannot reach {place}: {reason}",
            "ranks connect to each other on ports that the system assigns; the job hangs, then times out",
            f"on {peer}: let TCP from {request.host} through the firewall, all ports "
            "(ufw allow from ADDRESS, firewall-cmd --add-source=ADDRESS, nft list ruleset)",
        )
    if request.peers and not failures:
        yield ok(f"reaches {', '.join(request.peers)}")


CHECK = Check("reach", "ports reachable both ways", gather, judge=judge)
