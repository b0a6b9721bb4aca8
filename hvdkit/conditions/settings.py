"""Ranks train with the same settings: what optimizers go by, and what their schedulers decide by."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, because, is_assumed, ranks_with, surely_differs
from hvdkit.job.record import Record

UNLIKE = "each rank trains with a setting of its own, given at {}"


def unlike_settings(record: Record) -> Iterator[Objection]:
    """Rates and metrics that differ, so that equal gradients move the ranks' weights apart."""
    for setting in record.settings:
        alone = len(ranks_with(setting.active)) < 2 and not setting.changes
        if alone or not surely_differs(setting.value):
            continue
        if not is_assumed(record, setting.active):
            reason, origin = because(record, setting.value, setting.place)
            yield Objection(setting.place, f"{UNLIKE}: {reason}", origin)
