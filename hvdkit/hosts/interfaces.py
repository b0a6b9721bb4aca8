"""The network interfaces of this machine and the network that all hosts of a job share."""

from __future__ import annotations

import fcntl
import ipaddress
import re
import socket
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_SIOCGIFFLAGS, _SIOCGIFADDR, _SIOCGIFNETMASK = 0x8913, 0x8915, 0x891B  # linux/sockios.h
_UP = 0x1
# Made by container engines, hypervisors, VPNs and traffic shapers: their networks end on this machine.
_VIRTUAL = re.compile(
    r"(docker|br-|virbr|veth|tun|tap|cni|flannel|cali|vxlan|wg|tailscale|zt|lxc|lxd|podman|kube|dummy|ifb|vmnet|vboxnet)"
)


@dataclass(frozen=True)
class Interface:
    """An interface that is up and has an IPv4 address. network: as "10.0.0.0/24"."""

    name: str
    address: str
    network: str

    @property
    def is_loopback(self) -> bool:
        """127.0.0.0/8: never seen by another host."""
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def is_virtual(self) -> bool:
        """Judged by the name: an engine's eth0 inside a container is as good as a real one."""
        return _VIRTUAL.match(self.name) is not None


@dataclass(frozen=True)
class Route:
    """The interface by which a host is reached by all others, host by host."""

    interfaces: Mapping[str, Interface]

    @property
    def names(self) -> tuple[str, ...]:
        """The different names that it has, sorted; one where all hosts agree."""
        return tuple(sorted({interface.name for interface in self.interfaces.values()}))

    @property
    def networks(self) -> tuple[str, ...]:
        """The different networks, sorted; one where the hosts are neighbours."""
        return tuple(sorted({interface.network for interface in self.interfaces.values()}))


def own() -> tuple[Interface, ...]:
    """This machine's, in the kernel's order. Asked of the kernel: no package and no program is needed."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                flags = struct.unpack("H", fcntl.ioctl(asked, _SIOCGIFFLAGS, request)[16:18])[0]
                address = socket.inet_ntoa(fcntl.ioctl(asked, _SIOCGIFADDR, request)[20:24])
                mask = socket.inet_ntoa(fcntl.ioctl(asked, _SIOCGIFNETMASK, request)[20:24])
            except OSError:
                continue  # without an IPv4 address, or gone since it was listed
            if flags & _UP:
                network = ipaddress.ip_network(f"{address}/{mask}", strict=False)
                found.append(Interface(name, address, str(network)))
    return tuple(found)


def is_own_address(name: str) -> bool:
    """Whether a host name or address is this machine's. An unknown name is not."""
    try:
        address = socket.gethostbyname(name)
    except OSError:
        return False
    return ipaddress.ip_address(address).is_loopback or address in {found.address for found in own()}


def route(
    machines: Mapping[str, Iterable[Interface]], addresses: Mapping[str, Iterable[str]]
) -> Route | None:
    """The interface of each host that the others reach, or None where there is no such set.

    machines: the interfaces of each host. addresses: what each host's name resolves to, asked anywhere.
    The addresses that the names stand for come first; without them, a network that every host is on with an
    address of its own.
    """
    able = {host: [each for each in found if not each.is_loopback] for host, found in machines.items()}
    named = {
        host: next((each for each in found if each.address in set(addresses.get(host, ()))), None)
        for host, found in able.items()
    }
    chosen = {host: each for host, each in named.items() if each is not None}
    if len(chosen) == len(able) and _all_different(chosen.values()):
        return Route(chosen)
    shared = [each for each in next(iter(able.values()), []) if not each.is_virtual]
    for candidate in shared:
        by_host = {
            host: next((each for each in found if each.network == candidate.network), None)
            for host, found in able.items()
        }
        present = {host: each for host, each in by_host.items() if each is not None}
        if len(present) == len(able) and _all_different(present.values()):
            return Route(present)
    return None


def _all_different(interfaces: Iterable[Interface]) -> bool:
    """docker0 has 172.17.0.1 on every host: such a network is not shared."""
    addresses = [interface.address for interface in interfaces]
    return len(set(addresses)) == len(addresses)
