"""How processes ended, in the words of horovodrun, of mpirun and of `hvdkit run`. Decides nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hvdkit.explain.log import Log

# The shell's 128 + N, Python's -N, and mpirun's own sentence.
_GLOO = re.compile(r"^Process (?P<rank>\d+) exit with status code (?P<code>-?\d+)", re.MULTILINE)
_MPI_SIGNAL = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node \S+ exited on\s+signal (?P<signal>\d+)"
)
_MPI_CODE = re.compile(r"Process name: \[\[\d+,\d+\],(?P<rank>\d+)\]\s+Exit code: +(?P<code>\d+)")
_HVDKIT = re.compile(
    r"^hvdkit: rank (?P<rank>\d+) on \S+ failed first: (?:exit code (?P<code>\d+)|signal (?P<signal>\d+))",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Ended:
    """A rank that ended badly. line: number. signal: 0 where it ended by itself with `code`."""

    line: int
    rank: int
    code: int
    signal: int


def ended(log: Log) -> tuple[Ended, ...]:
    """The ranks that ended badly, in the order in which the launcher tells."""
    found = []
    for hit in [*log.all(_GLOO), *log.all(_MPI_CODE)]:
        code = int(hit.groups["code"])
        signal = -code if code < 0 else code - 128 if code > 128 else 0
        found.append(Ended(hit.line.number, int(hit.groups["rank"]), code, signal))
    for hit in [*log.all(_MPI_SIGNAL), *log.all(_HVDKIT)]:
        if not hit.groups["signal"]:
            found.append(Ended(hit.line.number, int(hit.groups["rank"]), int(hit.groups["code"]), 0))
            continue
        signal = int(hit.groups["signal"])
        found.append(Ended(hit.line.number, int(hit.groups["rank"]), 128 + signal, signal))
    return tuple(sorted(found, key=lambda one: one.line))


def by_signal(log: Log, *numbers: int) -> Ended | None:
    """The first rank that one of these signals ended."""
    return next((one for one in ended(log) if one.signal in numbers), None)
