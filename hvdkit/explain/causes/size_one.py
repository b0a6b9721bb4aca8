"""Each process takes itself for the only rank."""

from __future__ import annotations

import re

from hvdkit.explain.cause import Cause, Level, Match
from hvdkit.explain.log import Log

_SIZE = re.compile(
    r"\b(?:horovod |hvd\.|world[ _])?size(?:\(\))?(?: is|:| =|=) *(?P<size>\d+)\b", re.IGNORECASE
)


def find(log: Log) -> Match | None:
    """Two ranks or more, by the launcher's tags, that print a size, and none prints more than 1."""
    sizes = [hit for hit in log.all(_SIZE) if hit.line.rank is not None]
    ranks = {hit.line.rank for hit in sizes}
    if len(ranks) < 2 or ranks != set(log.ranks) or any(hit.groups["size"] != "1" for hit in sizes):
        return None
    return Match(sizes[0].line.number, {"count": str(len(ranks))})


CAUSE = Cause(
    id="size_one",
    title="{count} processes were started, and each is rank 0 of a job of 1",
    why=(
        "Horovod did not find its launcher: it was built without the MPI that mpirun belongs to, or for Gloo "
        "alone, which only horovodrun and hvdkit run start. Every process trains by itself."
    ),
    fix=(
        "horovodrun --check-build must list the controller that you start with; then hvdkit run -np N "
        "python train.py, or hvdkit install-horovod --rebuild with that MPI on PATH"
    ),
    find=find,
    excerpt="""\
Horovod size is 1
""",
    level=Level.FOLLOWS,
    general={"count": "N"},
    source="https://github.com/horovod/horovod/issues/870",
)
