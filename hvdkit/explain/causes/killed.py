"""A rank was killed from outside."""

from __future__ import annotations

import re
import signal

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.ended import by_signal
from hvdkit.explain.log import Log

_KERNEL = re.compile(r"Out of memory: Killed process|oom-kill:|Memory cgroup out of memory|OOMKilled")


def find(log: Log) -> Match | None:
    killed = by_signal(log, signal.SIGKILL)
    kernel = log.search(_KERNEL) if log.is_job else None
    if killed is None and kernel is None:
        return None
    who = f"rank {killed.rank}" if killed else "a process"
    by = "by the kernel, out of memory" if kernel else "with signal 9"
    lines = [killed.line if killed else None, kernel.line.number if kernel else None]
    line = min(number for number in lines if number is not None)
    return Match(line, {"who": who, "by": by})


CAUSE = Cause(
    id="killed",
    title="{who} was killed {by}",
    why=(
        "Signal 9 comes from outside the program: mostly the kernel or the container running"
        " out of memory (each"
        " rank loads its own copy of the data, and each DataLoader worker another), else a"
        " scheduler's time limit."
    ),
    fix="dmesg | grep -i 'killed process' names it; fewer num_workers, fewer ranks per host, or more memory",
    find=find,
    excerpt="""\
Process 1 exit with status code 137.
Terminating remaining workers after failure of Process 1.
""",
    level=Level.OWN,
    general={"who": "rank RANK", "by": "with signal 9, or by the kernel, out of memory"},
)
