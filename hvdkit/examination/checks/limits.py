"""Limits of a process: open files, locked memory, processes."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

from hvdkit.examination.check import Check, Request
from hvdkit.examination.finding import Finding, ok, warning

_NAMES = {
    "nofile": resource.RLIMIT_NOFILE,
    "memlock": resource.RLIMIT_MEMLOCK,
    "nproc": resource.RLIMIT_NPROC,
}


def gather(request: Request) -> dict[str, int]:
    """The soft limits (-1: none), and whether there is InfiniBand, which needs memory locked."""
    found = {name: resource.getrlimit(number)[0] for name, number in _NAMES.items()}
    return {**found, "infiniband": int(Path("/sys/class/infiniband").is_dir())}


def files_needed(ranks: int) -> int:
    """Open files of one rank: Gloo connects every rank with every other in each of three groups (global,
    local, cross), besides what a program has open anyway."""
    return 256 + 3 * ranks


def judge(fact: dict[str, int], request: Request) -> Iterator[Finding]:
    """Each limit against what a rank needs."""
    found = []
    if 0 <= fact["nofile"] < files_needed(request.ranks):
        found.append(
            warning(
                f"ulimit -n is {fact['nofile']}",
                f"a rank of {request.ranks} opens up to {files_needed(request.ranks)} files and connections",
                "ulimit -n 65536, permanently in /etc/security/limits.conf",
            )
        )
    if fact["infiniband"] and fact["memlock"] >= 0:
        found.append(
            warning(
                f"ulimit -l is {fact['memlock'] // 1024} KiB",
                "InfiniBand registers memory by locking it",
                "`* - memlock unlimited` in /etc/security/limits.conf; a container: --ulimit memlock=-1",
            )
        )
    if 0 <= fact["nproc"] < 128 * request.slots:
        found.append(
            warning(
                f"ulimit -u is {fact['nproc']}",
                "every thread of every rank and DataLoader worker counts",
                "ulimit -u 65536, permanently in /etc/security/limits.conf",
            )
        )
    yield from found or [ok("limits on open files, locked memory and processes are high enough")]


CHECK = Check("limits", "ulimits", gather, judge=judge)
