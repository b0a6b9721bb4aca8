"""This host on the network: what a name resolves to, which interface leads there, and which host this is."""

from __future__ import annotations

import socket
from pathlib import Path

import psutil


def resolve(name: str) -> str:
    """The IPv4 address of a host (Horovod's rendezvous takes no other). Raises: OSError."""
    found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    return str(found[0][4][0])


def own_addresses() -> dict[str, str]:
    """IPv4 address -> interface, for all of this host's."""
    return {
        address.address: name
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if address.family == socket.AF_INET
    }


def address_towards(address: str) -> str:
    """This host's address on the way to another one; nothing is sent. Raises: OSError, without a way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))
        return str(probe.getsockname()[0])


def machine() -> str:
    """What tells this host from another with the same name: its boot, its network and its name.

    Containers with a network of their own are hosts of their own, as for Horovod.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/net').readlink()}/{socket.gethostname()}"
