"""Files are written by rank 0 only: no two ranks write the same file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, because, is_assumed, is_own, ranks_with
from hvdkit.job.columns import RANKS, Value, alike, columns
from hvdkit.job.processes import NUMBERS
from hvdkit.job.record import Record, Written
from hvdkit.job.terms import Term, within

UNLIKE = (
    "rank 0 writes a file under a name made of its own metric, and each rank reads it under another at {}"
)
TEMPORARY = ("a new folder", "a new file")


def several_writers(record: Record) -> Iterator[Objection]:
    """The files that several ranks write."""
    writing: dict[Term, set[int]] = defaultdict(set)  # the ranks that write a file, by its path
    for written in record.written:
        for rank in ranks_with(written.active):
            writing[columns(written.path)[rank]].add(rank)
    for written in record.written:
        paths = columns(written.path)
        shared = [rank for rank in ranks_with(written.active) if len(writing[paths[rank]]) > 1]
        if shared and not is_assumed(record, written.active):
            yield Objection(written.place, f"{_who(shared)} at {{}}")


def unlike_names(record: Record) -> Iterator[Objection]:
    """The files that all ranks read, each under a name of its own, where rank 0 wrote one under its name.

    A name that is made of the rank's number is another: what is prepared for each rank.
    """
    alone = [each for each in record.written if ranks_with(each.active) == [RANKS[0]] and _is_own(each.path)]
    for read in record.read:
        if alone and len(ranks_with(read.active)) > 1 and _is_own(read.path):
            if not is_assumed(record, read.active):
                reason, origin = because(record, read.path, read.place)
                yield Objection(read.place, f"{UNLIKE}: {reason}", origin)


def _is_own(path: Value) -> bool:
    """Whether ranks have other names because of what each of them computed."""
    if alike(path):
        return False
    terms = [{*within(columns(path)[rank])} for rank in RANKS]
    return any(is_own(term) for term in terms[0] - terms[1])


def write_apart(record: Record, site: ast.AST) -> bool:
    """Whether no file that is written at a call has the name of one that another rank writes there."""
    files = [
        (rank, columns(written.path)[rank])
        for written in record.written
        if written.place[1] is site
        for rank in ranks_with(written.active)
    ]
    return all(one == other or _are_apart(path, of) for one, path in files for other, of in files)


def _are_apart(one: Term, two: Term) -> bool:
    """Whether two texts surely differ: in one constant, and in nothing else."""
    if one.kind == two.kind == "const":
        return one is not two
    if one.kind != two.kind or len(one.parts) != len(two.parts):
        return False
    other = [(a, b) for a, b in zip(one.parts, two.parts) if a is not b and a != b]
    return len(other) == 1 and all(
        isinstance(a, Term) and isinstance(b, Term) and _are_apart(a, b) for a, b in other
    )


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
