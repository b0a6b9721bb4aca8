"""Every optimizer averages gradients: parameters keep their hooks, and no other optimizer steps with them."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, is_assumed, ranks_with
from hvdkit.job.record import Moved, Record, Stepped

MOVED = "the model is moved after its optimizer is wrapped, and its parameters lose Horovod's hooks: {}"
PAST = "this is not the optimizer that averages the gradients of its parameters, and waits for none: {}"


def moved_late(record: Record) -> Iterator[Objection]:
    """The moves of a model whose optimizer averages already."""
    for moved in record.moved:
        if _is_seen(record, moved):
            yield Objection(moved.place, MOVED)


def stepped_past(record: Record) -> Iterator[Objection]:
    """The steps of an optimizer beside the one that averages."""
    for stepped in record.stepped:
        if _is_seen(record, stepped):
            yield Objection(stepped.place, PAST)


def _is_seen(record: Record, found: Moved | Stepped) -> bool:
    return bool(ranks_with(found.active)) and not is_assumed(record, found.active)
