"""A rank, or a worker of its DataLoader, was killed from outside, and nobody says by whom."""

from __future__ import annotations

import re
import signal

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.ended import by_signal
from hvdkit.explain.log import Log
from hvdkit.explain.scheduler import CANCELLED, MEMORY, TAKEN, TIME, killed_for

_WORKER = re.compile(r"DataLoader worker \(pid \d+\) is killed by signal: Killed")
# What mpi-operator's launcher says of a worker's pod.
_POD = re.compile(r"^command terminated with exit code 137", re.MULTILINE)

_HYDRA = re.compile(r"EXIT STRING: Killed \(signal 9\)")


def find(log: Log) -> Match | None:
    if any(killed_for(log, kind) for kind in (MEMORY, TIME, TAKEN)):
        return None
    killed, cancelled = by_signal(log, signal.SIGKILL), killed_for(log, CANCELLED)
    if killed and cancelled and cancelled.line < killed.line:
        return None
    if killed:
        return Match(killed.line, {"who": f"rank {killed.rank}"})
    for pattern, who in (
        (_WORKER, "a DataLoader worker"),
        (_POD, "all that ran in a pod"),
        (_HYDRA, "a rank"),
    ):
        hit = log.search(pattern) if log.is_job else None
        if hit:
            of = "" if hit.line.rank is None else f" of rank {hit.line.rank}"
            return Match(hit.line.number, {"who": who + of})
    return None


CAUSE = Cause(
    id="killed",
    title="{who} was killed with signal 9",
    why=(
        "Signal 9 comes from outside the program: mostly the kernel or the container running out of "
        "memory (each"
        " rank loads its own copy of the data, and each DataLoader worker another), else a scheduler's time"
        " limit."
    ),
    fix=(
        "dmesg | grep -i 'killed process', sacct or kubectl describe pod names it; fewer num_workers, "
        "fewer ranks"
        " per host, or more memory"
    ),
    find=find,
    excerpt="""\
Process 1 exit with status code 137.
Terminating remaining workers after failure of Process 1.
""",
    level=Level.OWN,
    general={"who": "rank RANK"},
)
