"""A rank ended by itself and said nothing."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.causes.own_error import own_error
from hvdkit.explain.ended import ended
from hvdkit.explain.log import Log

# What a rank ends with that was stopped because another one had failed.
_STOPPED = (1, 143, 137, -15, -9)


def find(log: Log) -> Match | None:
    if own_error(log):
        return None
    first = next((one for one in ended(log) if not one.signal and one.code not in _STOPPED), None)
    if first is None:
        return None
    return Match(first.line, {"rank": str(first.rank), "code": str(first.code)})


CAUSE = Cause(
    id="ended_early",
    title="rank {rank} ended by itself with exit code {code}, without an error message",
    why="The script called sys.exit() or its argument parser did (exit code 2) while the others went on.",
    fix="find the sys.exit() that this rank alone reaches; `python train.py` alone shows a usage message",
    find=find,
    excerpt="""\
Process 1 exit with status code 3.
Terminating remaining workers after failure of Process 1.
""",
    level=Level.OWN,
    general={"rank": "R", "code": "C"},
)
