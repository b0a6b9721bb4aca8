"""A rank failed with an error of its own; the others' errors follow from it."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log, Traceback

# What the other ranks, and the launcher, say when one rank has gone.
_FOLLOWS = re.compile(
    r"Horovod has been shut down|HorovodInternalError|Connection (?:reset|closed) by peer|Broken pipe"
    r"|KeyboardInterrupt|HorovodShutdownError|Horovod detected that one or more processes exited"
)
_LAUNCHER = re.compile(r"/horovod/runner/|/bin/horovodrun$|/bin/mpirun$")


def own_error(log: Log) -> Traceback | None:
    """The first traceback that no other rank's failure explains."""
    if not log.is_job:
        return None
    return next(
        (one for one in log.tracebacks if not _FOLLOWS.search(one.error) and not _launchers(one)), None
    )


def _launchers(traceback: Traceback) -> bool:
    return traceback.rank is None and any(_LAUNCHER.search(file) for file in traceback.files)


def find(log: Log) -> Match | None:
    error = own_error(log)
    if error is None:
        return None
    who = "the script" if error.rank is None else f"rank {error.rank}"
    place = f" at {error.place}" if error.place else ""
    return Match(error.number, {"who": who, "error": error.error, "place": place})


CAUSE = Cause(
    id="own_error",
    title="{who} failed{place}: {error}",
    why=(
        "It is the first error of the log that another rank's failure does not explain; the"
        " others follow from it."
    ),
    fix="mend that error; HOROVOD_LOG_LEVEL=info and one rank (horovodrun -np 1) help to see it alone",
    find=find,
    excerpt="""\
KeyError: 'label'
""",
    level=Level.OWN,
    general={"who": "a rank", "place": " at FILE:LINE"},
)
