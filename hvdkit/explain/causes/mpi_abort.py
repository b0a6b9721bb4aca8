"""A rank called MPI_Abort."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.causes.own_error import own_error
from hvdkit.explain.log import Log

_ABORT = re.compile(
    r"MPI_ABORT was invoked on rank (?P<rank>\d+) in communicator[^\n]*\n\s*with errorcode (?P<code>-?\d+)"
)


def find(log: Log) -> Match | None:
    if own_error(log):
        return None
    hit = log.search(_ABORT)
    return Match(hit.line.number, hit.groups) if hit else None


CAUSE = Cause(
    id="mpi_abort",
    title="rank {rank} called MPI_Abort with code {code}, which ends all ranks",
    why=(
        "Something in that rank gave up by itself, in the script's own mpi4py code or a library's, and said"
        " no more than this code."
    ),
    fix="find the Abort() that rank {rank} reaches; horovodrun --gloo keeps the ranks' own last words",
    find=find,
    excerpt="""\
MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
with errorcode 7.
""",
    level=Level.OWN,
    general={"rank": "R", "code": "C"},
)
