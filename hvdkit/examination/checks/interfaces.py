"""The network interfaces, and the variables that choose one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, error, note, ok, warning
from hvdkit.hosts.interfaces import Interface, own

_VARIABLES = ("HOROVOD_GLOO_IFACE", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")


def gather(request: Request) -> dict[str, Any]:
    """Interfaces that are up with an IPv4 address, and the variables that are set."""
    return {
        "interfaces": [asdict(interface) for interface in own()],
        "variables": {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)},
    }


def choice(interface: str) -> str:
    """The variables that make Gloo and NCCL take an interface."""
    return f"NCCL_SOCKET_IFNAME={interface} HOROVOD_GLOO_IFACE={interface}"


def judge(fact: dict[str, Any], request: Request) -> Iterator[Finding]:
    """Variables name what is there; virtual interfaces do not come first."""
    interfaces = [Interface(**interface) for interface in fact["interfaces"]]
    names = {interface.name for interface in interfaces}
    for variable, value in fact["variables"].items():
        wanted = {name.lstrip("=").partition(":")[0] for name in value.split(",") if not name.startswith("^")}
        # NCCL takes prefixes: eth stands for eth0.
        if wanted and not any(name.startswith(tuple(wanted)) for name in names):
            yield error(
                f"{variable}={value}, and there is no such interface",
                "ranks abort with `Unable to find address for`, or NCCL finds no network",
                f"unset {variable}, or one of: {', '.join(sorted(names - {'lo'}))}",
            )
    usable = [interface for interface in interfaces if not interface.is_loopback]
    virtual = [interface.name for interface in usable if interface.is_virtual]
    real = [interface.name for interface in usable if not interface.is_virtual]
    best = request.interface or next(iter(real), "")
    others = [name for name in virtual if name != best]
    if others and request.peers:
        first = usable[0].name
        yield warning(
            f"virtual interfaces besides {best or 'none'}: {', '.join(others)}"
            + (f"; {first} comes first" if first in others else ""),
            "they do not reach other hosts, and Gloo, NCCL and MPI may choose one: the job hangs at start-up",
            f"export {choice(best)}; `hvdkit run` sets it" if best else "bring up the network of the cluster",
        )
    elif others:
        yield note(
            f"virtual interfaces: {', '.join(others)}",
            "a job over several hosts may use one of them",
            f"export {choice(best)}" if best else "",
        )
    else:
        yield ok(
            f"interfaces: {', '.join(f'{each.name} {each.address}' for each in usable) or 'only loopback'}"
        )


CHECK = Check("interfaces", "network interfaces", gather, judge=judge)
