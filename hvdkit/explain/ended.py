"""How processes ended, in the words of the launchers, and who of them was first. Decides nothing."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from hvdkit.explain.follows import FOLLOWS
from hvdkit.explain.log import Hit, Log

# Each names a rank, and a code (the shell's 128 + N, Python's -N) or a signal, by number or by name.
_FORMS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^Process (?P<rank>\d{1,9}) exit with status code (?P<code>-?\d{1,9})",  # horovodrun under Gloo
        # mpirun, and Open MPI 5's prterun
        r"process rank (?P<rank>\d{1,9}) with PID \d+ on node \S+ exited\s+on\s+signal (?P<signal>\d{1,9})",
        r"Process name: \[(?:\[\d+,\d+\]|[^\[\]\n]*),(?P<rank>\d{1,9})\]\s+Exit code: +(?P<code>\d{1,9})",
        r"^hvdkit: rank (?P<rank>\d{1,9}) on \S+ failed first: "
        r"(?:exit code (?P<code>\d{1,9})|signal (?P<signal>\d{1,9}))",
        r"^srun: error: \S+: tasks? (?P<rank>\d{1,9})[\d,-]*: (?:Exited with exit code (?P<code>\d{1,9})"
        r"|(?P<name>Killed|Segmentation fault|Bus error|Aborted|Illegal instruction"
        r"|Floating point exception|Terminated))",
        # MPICH and Intel MPI (hydra), and IBM's jsrun
        r"RANK (?P<rank>\d{1,9}) PID \d+ RUNNING AT \S+\s+=\s+KILLED BY SIGNAL: (?P<signal>\d{1,9})",
        r"first noticed rank (?P<rank>\d{1,9})\) terminated with signal (?P<signal>\d{1,9})",
    )
)
_NAMES = {
    "Killed": signal.SIGKILL,
    "Segmentation fault": signal.SIGSEGV,
    "Bus error": signal.SIGBUS,
    "Aborted": signal.SIGABRT,
    "Illegal instruction": signal.SIGILL,
    "Floating point exception": signal.SIGFPE,
    "Terminated": signal.SIGTERM,
}
# A rank that is ended because another one has failed.
_TOLD_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# No rank ends itself by these, whatever the others do.
FATAL = (signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


@dataclass(frozen=True)
class Ended:
    """A rank that ended badly. line: number. signal: 0 where it ended by itself with `code`."""

    line: int
    rank: int
    code: int
    signal: int


def ended(log: Log) -> tuple[Ended, ...]:
    """The ranks that ended badly, in the order in which the launcher tells."""
    found = [_ended(hit) for form in _FORMS for hit in log.all(form)]
    return tuple(sorted(found, key=lambda one: one.line))


def _ended(hit: Hit) -> Ended:
    groups = hit.groups
    if groups.get("code"):
        code = int(groups["code"])
        number = -code if code < 0 else code - 128 if code > 128 else 0
    else:
        number = int(groups["signal"]) if groups.get("signal") else _NAMES[groups["name"]]
        code = 128 + number
    return Ended(hit.line.number, int(groups["rank"]), code, int(number))


def first(log: Log) -> Ended | None:
    """The rank that ended first, except ranks asked to end and ranks that gave up after another ended."""
    return next(
        (one for one in ended(log) if one.signal not in _TOLD_TO_END and not _survivor(log, one)), None
    )


def by_signal(log: Log, *numbers: int) -> Ended | None:
    """The rank that ended first, where one of these signals ended it."""
    found = first(log)
    return found if found and found.signal in numbers else None


def _survivor(log: Log, one: Ended) -> bool:
    """Whether a rank's last words are that another one has gone: it raises, or Gloo aborts it."""
    if one.signal in FATAL or one.rank not in log.ranks:
        return False
    errors = [error for error in log.tracebacks if error.rank == one.rank]
    if errors:
        return all(FOLLOWS.search(error.error) for error in errors)
    return bool(one.signal) and log.streams[one.rank].search(FOLLOWS) is not None
