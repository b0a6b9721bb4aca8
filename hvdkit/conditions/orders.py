"""Each epoch has a different order: a sampler's epoch changes from one pass over its loader to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.conditions.objection import Objection
from hvdkit.job.record import Pass, Place, Record
from hvdkit.job.terms import Term, within

SAME = "passes over the loader have the same order: set_epoch at {} is not called again before each of them"


def same_orders(record: Record) -> Iterator[Objection]:
    """The passes of a training whose order an earlier one had."""
    passes = [each for each in record.passes if isinstance(each.epoch, Term) and _is_trained(record, each)]
    last = {(each.place, each.loader): each for each in passes}
    seen: dict[tuple[Place, Term, Term], Pass] = {}
    for each in passes:
        assert isinstance(each.epoch, Term)
        varying = {term.parts[0] for term in within(each.epoch) if term.kind in ("each", "turn")}
        before = seen.setdefault((each.place, each.loader, each.epoch), each)
        repeated = before is not each and not varying & {*each.loops}
        # The last of the turns that were run has what the ones before it left.
        is_last = each is last[each.place, each.loader]
        if repeated or (is_last and each.loops and each.loops[-1] not in varying):
            yield Objection(each.told or each.place, SAME)


def _is_trained(record: Record, found: Pass) -> bool:
    """Whether a loss is computed of what a pass gives; of one by iter(), next() gives it elsewhere."""
    site = found.place[1]
    return any(
        term.kind == "each"
        and found.loader in term.parts
        and (term.parts[0] is site or isinstance(site, ast.Call))
        for loss in record.trained
        for column in ([loss] if isinstance(loss, Term) else loss)
        for term in within(column)
    )
