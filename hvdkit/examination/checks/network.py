"""One network that all hosts share, by interfaces of one name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.checks.interfaces import choice
from hvdkit.examination.finding import Finding, error, ok, warning


def compare(facts: Mapping[str, dict[str, Any]], requests: Mapping[str, Request]) -> Iterator[Finding]:
    """The interfaces that were chosen for the hosts: there are some, and they have one name."""
    chosen = {host: request.interface for host, request in requests.items() if host in facts}
    if not all(chosen.values()):
        lists = "; ".join(
            f"{host}: {', '.join(each['name'] + ' ' + each['network'] for each in fact['interfaces'])}"
            for host, fact in facts.items()
        )
        yield error(
            f"no network that all hosts share: {lists}",
            "every rank connects to every other",
            "put the hosts on one network, or use host names that resolve to addresses on it",
        )
    elif len(set(chosen.values())) > 1:
        names = ", ".join(f"{name} on {host}" for host, name in chosen.items())
        first = next(iter(chosen.values()))
        renames = [
            f"on {host}: ip link set {name} down && ip link set {name} name {first} && ip link set {first} up"
            for host, name in chosen.items()
            if name != first
        ]
        yield warning(
            f"the interfaces of the shared network have different names: {names}",
            "horovodrun needs one name on all hosts; `hvdkit run` gives each rank its own",
            f"start with hvdkit run, or {'; '.join(renames)}",
        )
    else:
        (name,) = set(chosen.values())
        yield ok(f"one network, by {name} on every host: {choice(name)}")


CHECK = Check("network", "one network", fact="interfaces", compare=compare)
