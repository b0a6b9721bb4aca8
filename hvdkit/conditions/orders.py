"""Each epoch has a different order: a sampler's epoch changes from one pass over its loader to the next."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.conditions.objection import Objection, because, surely_differs
from hvdkit.conditions.turns import Known, in_turn
from hvdkit.job.columns import Value, columns
from hvdkit.job.record import Pass, Place, Record, is_trained
from hvdkit.job.terms import Term, within

NEVER = "passes over the loader have the same order: no set_epoch comes before them at {}"
SAME = "passes over the loader have the same order: set_epoch at {} is not called again before each of them"
AGAIN = "passes over the loader have the same order: what set_epoch at {} is given comes again"
UNLIKE = "each rank has an order of its own, and the shares overlap: the number at {} differs: "
TURNS = range(5)  # of a loop, in which a number is compared with those before it
FIRST = 0  # a sampler's epoch before set_epoch


def same_orders(record: Record) -> Iterator[Objection]:
    """The passes of a training whose order an earlier one had, or that each rank orders in its own way."""
    passes = [each for each in record.passes if each.epoch is not None and is_trained(record, each)]
    last = {(each.place, each.loader): each for each in passes}
    seen: dict[tuple[Place, Term, Value], Pass] = {}
    for each in passes:
        assert each.epoch is not None
        at = each.told or each.place
        if surely_differs(each.epoch):
            reason, origin = because(record, each.epoch, at)
            yield Objection(at, UNLIKE + reason, origin)
            continue
        epoch = columns(each.epoch)[-1]
        varying = {term.parts[0] for term in within(epoch) if term.kind in ("each", "turn")}
        before = seen.setdefault((each.place, each.loader, epoch), each)
        repeated = before is not each and not varying & {*each.loops}
        # The last of the turns that were run has what the ones before it left.
        is_last = each is last[each.place, each.loader]
        if repeated or (is_last and each.loops and each.loops[-1] not in varying):
            yield Objection(at, NEVER if each.told is None else SAME)
        elif is_last and each.loops and _comes_again(record, each, epoch):
            yield Objection(at, AGAIN)


def _comes_again(record: Record, found: Pass, epoch: Term) -> bool:
    """Whether a number is that of an earlier turn of the innermost loop around a pass."""
    loop, runs = found.loops[-1], columns(found.active)[-1]
    turns = [turn for turn in TURNS if in_turn(record, runs, loop, turn, FIRST) != Known(False)]
    numbers = [in_turn(record, epoch, loop, turn, FIRST) for turn in turns]
    return len({*numbers}) < len(numbers)
