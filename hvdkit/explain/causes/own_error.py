"""A rank failed with an error of its own; the others' errors follow from it."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.ended import FATAL, first
from hvdkit.explain.follows import follows
from hvdkit.explain.log import Log, Traceback

# NCCL's errors in a framework's words: what NCCL says of them is the cause.
_OF_NCCL = re.compile(r"nccl\w+ failed|NCCL error|ncclSystemError|ncclUnhandledCudaError|ncclInternalError")
_LAUNCHER = re.compile(r"/horovod/run(?:ner)?/|/bin/horovodrun$|/bin/mpirun$")


def own_error(log: Log) -> Traceback | None:
    """The first traceback that no other rank's end explains; of the rank that ended first, if it has one."""
    if not log.is_job:
        return None
    errors = [one for one in log.tracebacks if not _explained(one.error) and not _launchers(one)]
    root = first(log)
    if root:
        own = [one for one in errors if one.rank == root.rank]
        # What others say after a rank was killed or has crashed is about that; no tag, and nobody knows
        # who said it.
        others = [one for one in errors if one.rank is None or root.signal not in FATAL]
        errors = own or others
    return errors[0] if errors else None


def _explained(error: str) -> bool:
    return follows(error) or _OF_NCCL.search(error) is not None


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
    fix="fix that error; HOROVOD_LOG_LEVEL=info and one rank (horovodrun -np 1) help to see it alone",
    find=find,
    excerpt="""\
KeyError: 'label'
""",
    level=Level.OWN,
    general={"error": "its exception", "who": "a rank", "place": " at FILE:LINE"},
    generic=True,
)
