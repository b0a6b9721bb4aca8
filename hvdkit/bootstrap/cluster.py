"""The node list: `hvdkit.cluster(...)` in a script, or HVDKIT_NODES=FILE for one that only calls init()."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvdkit.bootstrap import network, node, ranks, secret
from hvdkit.bootstrap.environment import start_seconds
from hvdkit.bootstrap.errors import JobFailedError, LaunchEnvironmentError, NodeListError
from hvdkit.bootstrap.launchers import is_connected, read_launches
from hvdkit.bootstrap.link import Job
from hvdkit.errors import HvdkitError
from hvdkit.hosts.lists import HostList, parse_nodes, read_nodes

CONTROL_PORT = 9988
_FAILED, _COULD_NOT_START = 1, 2


def cluster(
    nodes: Sequence[Mapping[str, str]] | str | os.PathLike[str], gpus_per_node: int = 1, ctrl_port: int = 0
) -> None:
    """`hvdkit.cluster`, which documents it."""
    if ranks.follow_starter():
        return
    try:
        hosts = (
            read_nodes(Path(nodes))
            if isinstance(nodes, (str, os.PathLike))
            else parse_nodes(
                {"nodes": nodes, "gpus_per_node": gpus_per_node, "ctrl_port": ctrl_port}, "hvdkit.cluster"
            )
        )
        if _is_started(hosts):
            return
        node.run(_job(hosts), ranks.again())
    except node.Interrupted as stop:
        sys.exit(128 + stop.number)
    except HvdkitError as error:
        sys.stdout.flush()
        print(f"hvdkit: {error}", file=sys.stderr, flush=True)
        sys.exit(_FAILED if isinstance(error, JobFailedError) else _COULD_NOT_START)
    sys.exit(0)


def _is_started(hosts: HostList) -> bool:
    """Whether horovodrun or MPI made this process a rank already. Raises: LaunchEnvironmentError."""
    launches = read_launches(os.environ, mpi_built=False)
    if not launches:
        return False
    first = launches[0]
    if is_connected(first):
        return True
    if first.size not in (1, len(hosts.hosts)):
        raise LaunchEnvironmentError(
            f"{first.launcher} started {first.size} processes; the node list has {len(hosts.hosts)} nodes",
            why="with a node list one process is started on every node, and it starts the ranks",
            fix=f"start one process per node, or remove the node list: {first.launcher} needs none",
        )
    return False


def _job(hosts: HostList) -> Job:
    """The job as this node sees it. Raises: NodeListError: the list does not name this machine once."""
    own = network.own_addresses()
    addresses = [_address(host.name) for host in hosts.hosts]
    places = [place for place, address in enumerate(addresses) if address in own]
    if len(places) != 1:
        listed = ", ".join(
            host.name if host.name == address else f"{host.name} ({address})"
            for host, address in zip(hosts.hosts, addresses)
        )
        raise NodeListError(
            f"{'no' if not places else 'more than one'} node of the list is {socket.gethostname()}: the list "
            f"has {listed}; this machine has {', '.join(sorted(own))}",
            why="each process finds its node by its own addresses",
            fix="list each machine once, by an address that the others reach",
        )
    several = len(hosts.hosts) > 1
    port = hosts.ctrl_port or (CONTROL_PORT if several else 0)
    # Nobody else asks on the port of a single node.
    known = secret.of_job(os.environ) if several else secret.own()
    return Job(hosts, places[0], tuple(addresses), port, start_seconds(os.environ), known)


def _address(name: str) -> str:
    try:
        return network.resolve(name)
    except OSError as error:
        raise NodeListError(
            f"{name}, a node of the list, cannot be resolved on {socket.gethostname()}: {error}",
            why="each process finds its node by its own addresses",
            fix=f"make {name} known to all nodes by an IPv4 address (DNS or /etc/hosts), or list that",
        ) from None


def started_by_file(environ: Mapping[str, str]) -> None:
    """For init(): start the ranks of the node list that HVDKIT_NODES names, if it does.

    Returns in a rank, and where there is no list. Raises: HvdkitError.
    """
    file = environ.get("HVDKIT_NODES", "")
    if file:
        cluster(file)
