"""Ranks start from the same weights: what is trained, or used by it, and what is loaded at the end."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, because, surely_differs
from hvdkit.job.record import Record


def unlike_weights(record: Record) -> Iterator[Objection]:
    """The parts of models whose weights differ. A broadcast that may be left out is another condition's."""
    for weights in record.weights:
        if not surely_differs(weights.value):
            continue
        changed = weights.changed
        at = weights.made if changed is None else changed
        reason, origin = because(record, weights.value, at)
        what = (
            "the ranks draw different weights at {}"
            if changed is None
            else "the ranks write different weights at {}"
        )
        yield Objection(at, f"{what}, and no broadcast follows: {reason}", origin)
