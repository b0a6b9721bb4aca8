"""Which hosts the ranks of a run are placed on.

A mistake between rank and local rank, or between size and local size, shows only where the two differ. By
default the ranks are therefore on two hosts, which are this machine under two names: horovodrun starts the
ranks of both without ssh, and numbers them by host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvdkit.hosts.lists import HERE, Host, HostList


@dataclass(frozen=True)
class Shape:
    """So many hosts, and so many ranks on each."""

    hosts: int
    slots: int

    def __str__(self) -> str:
        return f"{self.hosts}x{self.slots}"


def shapes_of(text: str) -> tuple[Shape, ...]:
    """From "2x1,2x2", the smallest first. Raises ValueError for what this machine cannot be."""
    found = [re.fullmatch(r"([12])x([1-9]\d*)", part.strip()) for part in text.split(",")]
    if not all(found):
        raise ValueError(text)
    shapes = {Shape(int(one[1]), int(one[2])) for one in found if one}
    return tuple(sorted(shapes, key=lambda one: (one.hosts * one.slots, -one.hosts)))


def together(world: int) -> HostList:
    """All ranks on this machine, as one host."""
    return HostList((Host(HERE[0], world),))


def apart(world: int) -> HostList:
    """On this machine as two hosts; the first takes one rank more where the number is odd."""
    first = (world + 1) // 2
    if first == world:
        return together(world)
    return HostList((Host(HERE[0], first), Host(HERE[1], world - first)))


def is_here(hosts: HostList) -> bool:
    """Whether all of them are this machine."""
    return all(host.name in HERE for host in hosts.hosts)


def described(hosts: HostList) -> str:
    """ "1 host of 2 ranks", "2 hosts of 1 rank", "2 hosts of 2 and 1 ranks"."""
    sizes = [host.slots for host in hosts.hosts]
    each = sizes[:1] if len(set(sizes)) == 1 else sizes
    ranks = "rank" if each == [1] else "ranks"
    return f"{len(sizes)} host{'s' if len(sizes) > 1 else ''} of {' and '.join(map(str, each))} {ranks}"
