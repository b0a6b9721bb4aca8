"""How the doctors of several hosts learn of each other: what each says first, and what each is then asked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hvdkit.examination.check import Request, Target
from hvdkit.hosts.interfaces import Interface, Route, own, route


@dataclass(frozen=True)
class Hello:
    """What a doctor says first: its interfaces and the ports that it listens on.

    ctrl_port_error: why the control port is not among them, "" if it is or was not asked for.
    """

    interfaces: tuple[Interface, ...]
    ports: tuple[int, ...]
    ctrl_port_error: str

    def as_json(self) -> dict[str, Any]:
        """JSON-ready; `from_json` takes it back."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Hello:
        """The hello that `as_json` made."""
        interfaces = tuple(Interface(**interface) for interface in data["interfaces"])
        return Hello(interfaces, tuple(data["ports"]), str(data["ctrl_port_error"]))


def greet(ctrl_port: int) -> Hello:
    """Listen on a port that the system gives, as Horovod does, and on the control port (0: none)."""
    ports = [_listen(0)]
    problem = ""
    if ctrl_port:
        try:
            ports.append(_listen(ctrl_port))
        except OSError as error:
            problem = str(error.strerror)
    return Hello(own(), tuple(ports), problem)


def bind(port: int) -> socket.socket:
    """A listening socket on every interface. Raises: OSError if the port is taken."""
    server = socket.socket()
    # As servers are started: connections of the last job that are about to end do not count.
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("", port))
        server.listen()
    except OSError:
        server.close()
        raise
    return server


def _listen(port: int) -> int:
    server = bind(port)

    def answer() -> None:
        while True:
            server.accept()[0].close()

    threading.Thread(target=answer, daemon=True).start()
    return int(server.getsockname()[1])


def way(hellos: Mapping[str, Hello], only: str = "") -> Route | None:
    """The interface of each host that the others reach. only: the one name that it may have, "" for any."""
    machines = {
        name: [each for each in hello.interfaces if not only or each.name == only]
        for name, hello in hellos.items()
    }
    return route(machines, {name: _addresses(name) for name in hellos})


def _addresses(name: str) -> set[str]:
    try:
        return {socket.gethostbyname(name)}
    except OSError:
        return set()


def requests(
    base: Request,
    hellos: Mapping[str, Hello],
    slots: Mapping[str, int],
    found: Route | None,
    by_ssh: bool = True,
) -> dict[str, Request]:
    """What each host is asked. base: what all are asked alike. slots: ranks by host; a host that is not in it
    takes none and needs no name. by_ssh: ranks are started by ssh.
    """
    made = {}
    for name, hello in hellos.items():
        peers = {}
        for other, theirs in hellos.items():
            if other != name:
                address = found.interfaces[other].address if found else ""
                known = other if other in slots else address or other
                peers[known] = Target(address, theirs.ports, by_ssh and other in slots)
        made[name] = Request(
            host=name,
            slots=slots.get(name, 0),
            ranks=base.ranks,
            script=base.script,
            ctrl_port=base.ctrl_port,
            ctrl_port_error=hello.ctrl_port_error,
            peers=peers,
            ssh=base.ssh,
            interface=found.interfaces[name].name if found else "",
        )
    return made
