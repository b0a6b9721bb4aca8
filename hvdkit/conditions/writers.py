"""Files are written by rank 0 only: no two ranks write the same file."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, is_assumed, ranks_with
from hvdkit.job.columns import RANKS, columns
from hvdkit.job.processes import NUMBERS
from hvdkit.job.record import Record, Written
from hvdkit.job.terms import within

TEMPORARY = ("a new folder", "a new file")


def several_writers(record: Record) -> Iterator[Objection]:
    """The files that several ranks write."""
    for written in record.written:
        ranks = ranks_with(written.active)
        paths = columns(written.path)
        shared = [
            rank for rank in ranks if any(paths[rank] is paths[other] for other in ranks if other != rank)
        ]
        if shared and not is_assumed(record, written.active):
            yield Objection(written.place, f"{_who(shared)} at {{}}")


def is_temporary(written: Written) -> bool:
    """Whether each rank writes a file of its own, which the system made a name for."""
    return all(
        any(part.kind in TEMPORARY for part in within(columns(written.path)[rank]))
        for rank in ranks_with(written.active)
    )


def _who(ranks: list[int]) -> str:
    if ranks == [*RANKS]:
        return "every rank writes the same file"
    if ranks == [rank for rank in RANKS if NUMBERS["local_rank"][rank] == 0]:
        return "one rank of each host writes (local_rank, not rank)"
    if ranks == [*RANKS][1:]:
        return "every rank but rank 0 writes the same file"
    return "several ranks write the same file"
