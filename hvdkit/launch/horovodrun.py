"""The horovodrun command line that a list of hosts and their network need."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hvdkit.errors import HvdkitError
from hvdkit.hosts.interfaces import Route
from hvdkit.hosts.lists import HostList
from hvdkit.hosts.ssh import Ssh


class LauncherError(HvdkitError):
    """There is no horovodrun, or it cannot do what was asked."""


@dataclass(frozen=True)
class Start:
    """What to start. controller: "gloo" or "mpi". launcher: name of this machine in `route`, which is None
    for a job on this machine alone. crowded: a host has at least as many ranks as cores. world: what
    ranks are given to find each other (hvdkit.launch.world), "" for what Horovod takes. yields: whether
    Open MPI's ranks leave their core while they wait; None: where it is crowded.
    """

    ranks: int
    hosts: HostList
    controller: str
    launcher: str = ""
    route: Route | None = None
    ssh: Ssh = field(default_factory=Ssh)
    crowded: bool = False
    mpi_args: str = ""
    start_timeout: int | None = None
    world: str = ""
    yields: bool | None = None


def command_line(start: Start, command: Sequence[str]) -> list[str]:
    """The arguments of horovodrun, what starts it first. Raises: LauncherError."""
    # Its cache of the last hour's answers survives the cluster that gave them.
    # What was built has been looked at before the start, where it counts: on every host.
    found = find_horovodrun()
    launcher = [*UNCHECKED] if Path(found).parent == Path(sys.executable).parent else [found]
    made = [*launcher, "-np", str(start.ranks), "-H", start.hosts.argument, "--disable-cache"]
    made += [f"--{start.controller}", *_network(start), *start.ssh.options]
    if start.start_timeout is not None:
        made += ["--start-timeout", str(start.start_timeout)]
    mpi = _mpi(start) if start.controller == "mpi" else ""
    return [*made, *([f"--mpi-args={mpi}"] if mpi else []), *command]


def _network(start: Start) -> list[str]:
    """Gloo takes the launcher's address from the interface. Open MPI takes a network where names differ."""
    if start.route is None:
        return []
    if start.controller == "mpi" and len(start.route.names) > 1:
        return ["--network-interfaces", ",".join(start.route.networks)]
    return ["--network-interfaces", start.route.interfaces[start.launcher].name]


def _mpi(start: Start) -> str:
    parts = []
    if start.crowded if start.yields is None else start.yields:
        # A rank that waits must not keep its core from one that works.
        parts.append("--mca mpi_yield_when_idle 1")
    if start.route is not None:
        # mpirun and its daemons talk over the same network as the ranks.
        by_name = len(start.route.names) == 1
        parts.append(
            f"--mca oob_tcp_if_include {','.join(start.route.names if by_name else start.route.networks)}"
        )
    return " ".join([*parts, *([start.mpi_args] if start.mpi_args else [])])


# The arguments of horovodrun follow: see hvdkit/launch/unchecked.
UNCHECKED = (sys.executable, str(Path(__file__).with_name("unchecked")))


def find_horovodrun() -> str:
    """The path of horovodrun: this environment's, else the one on PATH. Raises: LauncherError."""
    beside = Path(sys.executable).with_name("horovodrun")
    found = str(beside) if beside.exists() else shutil.which("horovodrun")
    if not found:
        raise LauncherError(
            f"horovodrun is neither next to {sys.executable} nor on PATH",
            why="it starts the ranks",
            fix="hvdkit install-horovod",
        )
    return found
