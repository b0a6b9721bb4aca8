"""A rank crashed in native code."""

from __future__ import annotations

import re
import signal

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.ended import by_signal
from hvdkit.explain.log import Log

_SIGNALS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGABRT: "aborted",
    signal.SIGBUS: "bus error",
    signal.SIGILL: "illegal instruction",
    signal.SIGFPE: "arithmetic error",
}
_FAULTHANDLER = re.compile(r"^Fatal Python error: ", re.MULTILINE)


def find(log: Log) -> Match | None:
    crashed = by_signal(log, *_SIGNALS)
    if crashed is None:
        return None
    told = log.streams[crashed.rank].search(_FAULTHANDLER) if crashed.rank in log.ranks else None
    line = told.line.number if told else crashed.line
    return Match(line, {"rank": str(crashed.rank), "signal": _SIGNALS[signal.Signals(crashed.signal)]})


CAUSE = Cause(
    id="crashed",
    title="rank {rank} crashed in native code: {signal}",
    why=(
        "An extension, a driver or a library failed below Python, which could write no traceback: mostly one"
        " that was compiled for another version, or for another processor (illegal instruction)."
    ),
    fix=(
        "PYTHONFAULTHANDLER=1 horovodrun ... names the line of the script; hvdkit install-horovod --check"
        " says whether Horovod fits"
    ),
    find=find,
    excerpt="""\
Process 1 exit with status code 139.
Terminating remaining workers after failure of Process 1.
""",
    level=Level.OWN,
)
