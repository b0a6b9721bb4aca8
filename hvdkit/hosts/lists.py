"""The hosts of a job and how many ranks each takes: from -H, a hostfile, or a node list in TOML.

Host names reach shells (`ssh` and `horovodrun` build command lines of them), so only what can be a name or an
IPv4 address is let through.
"""

from __future__ import annotations

import argparse
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hvdkit.arguments import HOSTS, nearest
from hvdkit.errors import HvdkitError, UsageError
from hvdkit.files import read_stream
from hvdkit.toml import NotToml, parse_toml

# This machine, in a list that names no other: horovodrun starts ranks there without ssh.
HERE = ("localhost", "127.0.0.1")
# RFC 1123 labels, with the underscore that clusters use all the same. A leading "-" would be an option.
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_LARGEST = 1 << 20  # bytes of a file that names hosts
_MOST_SLOTS = 4096
_SETTINGS = ("nodes", "gpus_per_node", "ctrl_port")
_OF_NODE = ("addr", "gpus_per_node")
_WHY_NAME = "host names become part of ssh and shell command lines"


class HostError(HvdkitError):
    """A host list that cannot be read, or that names something that is not a host."""


@dataclass(frozen=True)
class Host:
    """A machine and the ranks it takes at most."""

    name: str
    slots: int


@dataclass(frozen=True)
class HostList:
    """The hosts of a job, in rank order. ctrl_port: the control port that a node list names, or 0."""

    hosts: tuple[Host, ...]
    ctrl_port: int = 0

    @property
    def slots(self) -> int:
        """Ranks that fit on all hosts together."""
        return sum(host.slots for host in self.hosts)

    @property
    def argument(self) -> str:
        """As horovodrun's -H takes it: "a:2,b:2"."""
        return ",".join(f"{host.name}:{host.slots}" for host in self.hosts)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that name hosts, as horovodrun has them, and --nodes."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(*HOSTS, metavar="A:2,B:2", help="hosts and the number of ranks on each")
    group.add_argument(
        "--hostfile",
        "-hostfile",
        type=Path,
        metavar="FILE",
        help="one host a line: `a slots=2`, `a:2` or `a`",
    )
    group.add_argument("--nodes", type=Path, metavar="FILE", help="a node list in TOML (docs/clusters.md)")
    parser.add_argument("-p", "--ssh-port", type=int, metavar="PORT", help="of the sshd on every host")
    parser.add_argument("-i", "--ssh-identity-file", type=Path, metavar="FILE", help="private key for ssh")


def from_options(options: argparse.Namespace) -> HostList | None:
    """What the options of `add_options` name; None if they name no host. Raises: HostError."""
    if options.hosts is not None:
        return parse_hosts(options.hosts)
    if options.hostfile is not None:
        return read_hostfile(options.hostfile)
    if options.nodes is not None:
        return read_nodes(options.nodes)
    return None


def parse_hosts(text: str) -> HostList:
    """Hosts of "a:2,b:2"; a name without slots counts for one rank each time it stands there.

    Raises: HostError.
    """
    return _started_by_ssh([_host(part.strip(), "-H") for part in text.split(",")], "-H")


def read_hostfile(file: Path) -> HostList:
    """Hosts of a hostfile, in horovodrun's form (`a slots=2`), Open MPI's (`a slots=2 max_slots=4`) or `a:2`.

    Raises: HostError.
    """
    hosts = []
    for number, line in enumerate(_text(file).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        place = f"{file}:{number}"
        settings = dict(word.partition("=")[::2] for word in words[1:])
        unknown = sorted(settings.keys() - {"slots", "max_slots", "max-slots"})
        if unknown:
            raise HostError(
                f"{place}: {unknown[0]!r} is not a setting of a host",
                fix=f"write the line as `{words[0]} slots=2`",
            )
        host = _host(words[0], place)
        hosts.append(Host(host.name, _slots(settings["slots"], place)) if "slots" in settings else host)
    return _started_by_ssh(hosts, str(file))


def read_nodes(file: Path) -> HostList:
    """Hosts of a node list: `nodes = [{addr = ...}, ...]`, `gpus_per_node`, `ctrl_port`.

    A node may have a `gpus_per_node` of its own.

    Raises: HostError.
    """
    try:
        table = parse_toml(_content(file))
    except NotToml as error:
        raise HostError(f"{file} is not TOML: {error}", fix="docs/clusters.md shows a node list") from None
    return parse_nodes(table, str(file))


def parse_nodes(table: Mapping[str, object], place: str) -> HostList:
    """Hosts of a node list that is there as a table. place: where it stands, for messages.

    Raises: HostError.
    """
    _check_keys(table, _SETTINGS, "a node list", place)
    nodes = table.get("nodes")
    if not isinstance(nodes, (list, tuple)) or not all(isinstance(node, Mapping) for node in nodes):
        raise _no_list(place)
    for node in nodes:
        _check_keys(node, _OF_NODE, "a node", place)
    if not all(isinstance(node.get("addr"), str) for node in nodes):
        raise _no_list(place)
    slots = _ranks_of(table.get("gpus_per_node", 1), place)
    port = table.get("ctrl_port", 0)
    if type(port) is not int or not 0 <= port < 65536:
        raise HostError(f"{place}: ctrl_port = {port!r} is not a port", fix="write a number from 1 to 65535")
    hosts = [
        Host(_name(node["addr"], place), _ranks_of(node.get("gpus_per_node", slots), place)) for node in nodes
    ]
    names = [host.name for host in hosts]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise HostError(
            f"{place}: {twice[0]} is listed twice", fix="list every node once; gpus_per_node sets its ranks"
        )
    return HostList(_collect(hosts, place).hosts, port)


def _no_list(place: str) -> HostError:
    return HostError(
        f"{place} does not contain a node list",
        why="every node is found by its address",
        fix='write `nodes = [{addr = "192.168.1.12"}, {addr = "192.168.1.11"}]`',
    )


def _check_keys(table: Mapping[str, object], known: tuple[str, ...], what: str, place: str) -> None:
    for key in table:
        if key not in known:
            near = nearest(str(key), known)
            raise HostError(
                f"{place}: {key!r} is not a setting of {what}",
                why="what it is meant to say would not be obeyed",
                fix=f"did you mean {near}?" if near else f"the settings are {' and '.join(known)}",
            )


def _ranks_of(number: object, place: str) -> int:
    """Ranks of a node. True is no number, and "2" is none either. Raises: HostError."""
    if type(number) is not int or not 0 < number <= _MOST_SLOTS:
        raise HostError(
            f"{place}: gpus_per_node = {number!r} is not a number of ranks",
            fix=f"write a number from 1 to {_MOST_SLOTS}",
        )
    return number


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return read_stream(opened, str(file), _LARGEST)
    except OSError as error:
        raise HostError(f"{file}: {error.strerror}", fix="name a file that can be read") from None


def _text(file: Path) -> str:
    try:
        return _content(file).decode("utf-8")
    except UnicodeDecodeError:
        raise HostError(f"{file} is not text in UTF-8", fix="name a hostfile or a node list") from None


def _host(text: str, place: str) -> Host:
    _refuse_ipv6(text, place)
    name, colon, slots = text.partition(":")
    if ":" in slots:
        raise HostError(
            f"{place}: {text!r} is not HOST:SLOTS",
            why="Horovod's launcher accepts IPv4 addresses and names, and one ssh port for all hosts",
            fix="write `a:2`; the ssh port goes into --ssh-port",
        )
    return Host(_name(name, place), _slots(slots, place) if colon else 1)


def _name(name: str, place: str) -> str:
    if "@" in name:
        raise HostError(
            f"{place}: {name!r} contains a user name",
            why="Horovod's launcher accepts only the host name",
            fix=f"put `User` for {name.partition('@')[2]} into ~/.ssh/config",
        )
    _refuse_ipv6(name, place)
    if _NAME.fullmatch(name) is None:
        raise HostError(f"{place}: {name!r} is not a host name", why=_WHY_NAME, fix="write names like node-1")
    return name


def _refuse_ipv6(text: str, place: str) -> None:
    try:
        ipaddress.IPv6Address(text.partition("]")[0].strip("[]"))
    except ValueError:
        return
    raise HostError(
        f"{place}: {text} is an IPv6 address",
        why="Horovod's rendezvous and its launcher take IPv4 alone",
        fix="write the host's IPv4 address, or a name that has one",
    )


def _slots(text: str, place: str) -> int:
    # Beyond so many digits Python itself refuses to read a number.
    if not text.isdecimal() or len(text) > len(str(_MOST_SLOTS)) or not 0 < int(text) <= _MOST_SLOTS:
        raise HostError(
            f"{place}: {text[:40]!r} is not a number of ranks from 1 to {_MOST_SLOTS}", fix="write a:2"
        )
    return int(text)


def _started_by_ssh(hosts: list[Host], place: str) -> HostList:
    """`_collect`, for hosts that are given each other's names as they stand here."""
    here = [host.name for host in hosts if host.name == "localhost" or host.name.startswith("127.")]
    if here and len({host.name for host in hosts}) > 1 and not all(host.name in HERE for host in hosts):
        raise HostError(
            f"{place}: {here[0]} together with other hosts",
            why="on each of them the name means that host itself",
            fix="write the name or address by which the others know this machine",
        )
    return _collect(hosts, place)


def _collect(hosts: list[Host], place: str) -> HostList:
    """One entry a host, in the order in which they come first."""
    if not hosts:
        raise HostError(f"{place} names no host", fix="write one host a line: `node-1 slots=2`")
    slots: dict[str, int] = {}
    for host in hosts:
        slots[host.name] = slots.get(host.name, 0) + host.slots
    return HostList(tuple(Host(name, number) for name, number in slots.items()))


def enough(hosts: HostList, ranks: int) -> HostList:
    """The hosts that `ranks` ranks are placed on. Raises: UsageError if they do not fit."""
    if ranks > hosts.slots:
        raise UsageError(
            f"-np {ranks}, and {hosts.argument} has room for {hosts.slots}",
            fix=f"hvdkit run -np {hosts.slots} ... or more slots",
        )
    used, left = [], ranks
    for host in hosts.hosts:
        if left:
            used.append(Host(host.name, min(host.slots, left)))
            left -= used[-1].slots
    return HostList(tuple(used), hosts.ctrl_port)
