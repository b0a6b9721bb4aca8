"""Collectives meet: all ranks come to the same collectives, in the same order."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, is_assumed, ranks_with
from hvdkit.job.columns import RANKS, alike, columns
from hvdkit.job.record import Record

FEWER = "not all ranks come to {} at {{}}, and those that do block forever"


def unmet(record: Record) -> Iterator[Objection]:
    """The collectives to which not all ranks come."""
    if record.trace is None or alike(record.trace) or record.uncounted:
        return
    for met in record.met:
        terms = {columns(met.active)[rank] for rank in RANKS}
        if len(terms) > 1 and ranks_with(met.active) and not is_assumed(record, met.active):
            yield Objection(met.place, FEWER.format(NAMES.get(met.name, met.name)))


NAMES = {"gradients": "the averaging of the gradients"}
