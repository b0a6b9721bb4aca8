"""Where this process is in the job, by the variables of torchrun, PyTorchJob, hvdkit run --torch or srun.

Reads what hvdkit.bootstrap reads for Horovod, and opens the store of torch.distributed. Ranks that do not
come are named. Nothing here makes a process group.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from hvdkit.bootstrap import network, slurm, torchrun
from hvdkit.bootstrap.environment import START_TIMEOUT, start_seconds
from hvdkit.bootstrap.errors import LaunchEnvironmentError, MeetingError
from hvdkit.bootstrap.launch import Launch
from hvdkit.bootstrap.launchers import read_launches
from hvdkit.bootstrap.variables import port

_PATIENCE = timedelta(minutes=30)  # of torch.distributed itself, for what waits in the store later


@dataclass(frozen=True)
class Place:
    """This process's numbers, and the job's store; None in a world of one."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int
    homogeneous: bool
    store: Any


ALONE = Place(0, 1, 0, 1, 0, 1, True, None)


class _Opened:
    """The store of this process. It is opened once: a second init() uses it under a different prefix."""

    store: Any = None
    count = 0


def find_place(environ: Mapping[str, str]) -> Place:
    """Connect to the other ranks' store, and find out who is on which host.

    Raises:
        LaunchEnvironmentError: several processes were started, and nothing says how they connect.
        MeetingError: a rank did not come in time.
    """
    if dist.is_initialized():
        rank, size, store = dist.get_rank(), dist.get_world_size(), distributed_c10d._get_default_store()
    else:
        launch = launch_of(environ)
        if launch is None:
            return ALONE
        rank, size = launch.rank, launch.size
        if _Opened.store is None:
            _Opened.store = _open(environ, launch)
        store = _Opened.store
    _Opened.count += 1
    attempt = environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    store = distributed_c10d.PrefixStore(f"hvdkit/{attempt}/{_Opened.count}", store)
    return place_of(rank, _nodes(store, rank, size, start_seconds(environ)), store)


def place_of(rank: int, nodes: list[str], store: Any) -> Place:
    """A rank's numbers, from the nodes of all ranks."""
    node = nodes[rank]
    local_rank, local_size = nodes[:rank].count(node), nodes.count(node)
    hosts = list(dict.fromkeys(nodes))
    alike = [host for host in hosts if nodes.count(host) > local_rank]
    homogeneous = len({nodes.count(host) for host in hosts}) == 1
    return Place(rank, len(nodes), local_rank, local_size, alike.index(node), len(alike), homogeneous, store)


def launch_of(environ: Mapping[str, str]) -> Launch | None:
    """The launcher whose ranks these are; None for a process that was started alone.

    Raises: LaunchEnvironmentError.
    """
    if environ.get("HVDKIT_NODES"):
        raise LaunchEnvironmentError(
            f"HVDKIT_NODES={environ['HVDKIT_NODES']} starts ranks of Horovod, and the engine is torch",
            why="this process would train alone",
            fix="unset HVDKIT_NODES, and start the job with "
            f"`hvdkit run --torch -np N -H HOST:SLOTS,... python {_script()}`",
        )
    launches = read_launches(environ, mpi_built=False)
    if not launches:
        return None
    first = launches[0]
    same = [each for each in launches if (each.rank, each.size) == (first.rank, first.size)]
    known = [each for each in same if each.launcher in (torchrun.FAMILY.launcher, slurm.FAMILY.launcher)]
    if known:
        return known[0] if known[0].size > 1 else None
    if first.size == 1 and len(launches) == 1:
        return None
    if environ.get("MASTER_ADDR") and environ.get("MASTER_PORT"):
        return first
    raise LaunchEnvironmentError(
        f"{first.launcher} started {first.size} processes ({first.size_variable}={first.size}), and does not "
        "say how they connect through torch.distributed",
        why="each would train alone and overwrite the others' files",
        fix=f"start it with `torchrun --nproc-per-node {first.local_size or first.size} {_script()}` or "
        f"`hvdkit run --torch -np {first.size} python {_script()}`, or set MASTER_ADDR and MASTER_PORT to "
        "rank 0's host and a free port",
    )


def _script() -> str:
    return shlex.join(sys.argv) if sys.argv[0] else "train.py"


def _open(environ: Mapping[str, str], launch: Launch) -> Any:
    """The store: torchrun's own, or rank 0's. Raises: LaunchEnvironmentError, MeetingError."""
    agents = environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if launch.launcher == slurm.FAMILY.launcher and not environ.get("MASTER_PORT"):
        meeting = slurm.meeting(environ, launch)
        host, number = meeting.root, meeting.port
    else:
        if launch.launcher == torchrun.FAMILY.launcher:
            torchrun.meeting(environ, launch)  # refuses what is missing or contradicts itself
        host, number = environ["MASTER_ADDR"], port("MASTER_PORT", environ)
    seconds = start_seconds(environ)
    try:
        return dist.TCPStore(  # type: ignore[attr-defined]
            host,
            number,
            None,
            is_master=launch.rank == 0 and not agents,
            timeout=timedelta(seconds=seconds),
            wait_for_workers=False,
        )
    except RuntimeError as error:
        raise MeetingError(
            f"rank {launch.rank} cannot reach the store of the job at {host}, port {number}: {error}",
            why="the ranks connect there",
            fix="start rank 0, open the port, or set MASTER_ADDR and MASTER_PORT to its host and a free port",
        ) from error


def _nodes(store: Any, rank: int, size: int, seconds: float) -> list[str]:
    """The node of each rank. Raises: MeetingError."""
    keys = [f"node/{each}" for each in range(size)]
    store.set(keys[rank], json.dumps(_node()))
    try:
        store.wait(keys, timedelta(seconds=seconds))
    except RuntimeError as error:
        missing = [str(each) for each, key in enumerate(keys) if not store.check([key])]
        shown = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
        raise MeetingError(
            f"ranks {shown} of {size} did not come within {seconds:g} s",
            why="an operation waits for all ranks",
            fix=f"start them, or give them more time: {START_TIMEOUT}=SECONDS",
        ) from error
    store.set_timeout(_PATIENCE)
    return [json.loads(value) for value in store.multi_get(keys)]


def _node() -> str:
    """What the ranks of one host, or of one agent of torchrun, have in common."""
    if os.environ.get("LOCAL_RANK") and os.environ.get("GROUP_RANK"):
        return f"agent {os.environ['GROUP_RANK']}"
    return network.machine() if Path("/proc/self/ns/net").exists() else str(uuid.getnode())
