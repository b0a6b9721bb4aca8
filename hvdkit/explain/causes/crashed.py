"""A rank crashed in native code."""

from __future__ import annotations

import re
import signal

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.ended import Ended, by_signal
from hvdkit.explain.follows import follows
from hvdkit.explain.log import Log

_SIGNALS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGABRT: "aborted",
    signal.SIGBUS: "bus error",
    signal.SIGILL: "illegal instruction",
    signal.SIGFPE: "arithmetic error",
}
_FAULTHANDLER = re.compile(r"^Fatal Python error: ", re.MULTILINE)
# What C++ says of an exception that nobody catches, before it aborts.
_UNCAUGHT = re.compile(
    r"^terminate called after throwing an instance of '(?P<kind>[^']+)'(?:\n *what\(\): *(?P<what>[^\n]+))?",
    re.MULTILINE,
)
# Where no launcher tells of it by rank: Open MPI's handler, UCX's and MXM's, MPICH, PyTorch of its workers,
# Abseil's handler in the processes of Ray and TensorFlow.
_TOLD = re.compile(
    r"Signal: (?P<name>Segmentation fault|Illegal instruction|Floating point exception) \(\d+\)"
    r"|Caught signal \d+ \((?P<handler>Segmentation fault|Bus error|Illegal instruction)\b"
    r"|EXIT STRING: (?P<hydra>Segmentation fault|Aborted|Illegal instruction)"
    r"|DataLoader worker \(pid \d+\) is killed by signal: "
    r"(?P<worker>Segmentation fault|Aborted|Illegal instruction)"
    r"|\*\*\* (?P<abseil>SIG(?:SEGV|ABRT|BUS|ILL|FPE)) received at time="
)


def find(log: Log) -> Match | None:
    crashed = by_signal(log, *_SIGNALS)
    if crashed and _gloo(log, crashed):
        return None
    return _ended(log, crashed) if crashed else _told(log)


def _gloo(log: Log, crashed: Ended) -> bool:
    """Whether Gloo gave up over the network: other causes say why."""
    stream = log.streams.get(crashed.rank)
    uncaught = stream.search(_UNCAUGHT) if stream and crashed.signal == signal.SIGABRT else None
    return uncaught is not None and uncaught.groups["kind"].startswith("gloo::")


def _told(log: Log) -> Match | None:
    """A crash that no launcher tells of."""
    hit = log.search(_TOLD) if log.is_job else None
    if hit is None:
        return None
    rank = "a rank" if hit.line.rank is None else f"rank {hit.line.rank}"
    who = f"a DataLoader worker of {rank}" if hit.groups["worker"] else rank
    said = next(said for said in hit.groups.values() if said)
    name = _SIGNALS[signal.Signals[said]] if hit.groups["abseil"] else said.lower()
    return Match(hit.line.number, {"who": who, "signal": name, "detail": ""})


def _ended(log: Log, crashed: Ended) -> Match:
    """A crash that the launcher tells of, with what the rank's own lines add."""
    stream = log.streams.get(crashed.rank)
    told = stream.search(_FAULTHANDLER) if stream else None
    uncaught = stream.search(_UNCAUGHT) if stream and crashed.signal == signal.SIGABRT else None
    detail = ""
    if uncaught and not follows(uncaught.groups["what"]):
        detail = ", {kind}: {what}".format(**uncaught.groups).removesuffix(": ")
    line = told.line.number if told else uncaught.line.number if uncaught else crashed.line
    name = _SIGNALS[signal.Signals(crashed.signal)]
    return Match(line, {"who": f"rank {crashed.rank}", "signal": name, "detail": detail})


CAUSE = Cause(
    id="crashed",
    title="{who} crashed in native code: {signal}{detail}",
    why=(
        "An extension, a driver or a library failed below Python, which could write no traceback: mostly one"
        " that was compiled for another version, or for another processor (illegal instruction)."
    ),
    fix=(
        "PYTHONFAULTHANDLER=1 horovodrun ... names the line of the script; hvdkit install-horovod --check"
        " says whether Horovod fits; num_workers=0 shows whether a DataLoader worker does it"
    ),
    find=find,
    excerpt="""\
Process 1 exit with status code 139.
Terminating remaining workers after failure of Process 1.
""",
    level=Level.OWN,
    general={"signal": "a segmentation fault or another signal", "who": "a rank"},
)
