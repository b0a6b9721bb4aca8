"""Every optimizer averages gradients: the parameters keep the hooks by which it does."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, is_assumed, ranks_with
from hvdkit.job.record import Record

MOVED = "the model is moved after its optimizer is wrapped, and its parameters lose Horovod's hooks: {}"


def moved_late(record: Record) -> Iterator[Objection]:
    """The moves of a model whose optimizer averages already."""
    for moved in record.moved:
        if ranks_with(moved.active) and not is_assumed(record, moved.active):
            yield Objection(moved.place, MOVED)
