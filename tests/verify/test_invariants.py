"""The learning rate of several ranks against that of one process, whose epochs have more steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.observe.records import PASS_ENDED, SETS_EPOCH, WRONG_ORDER, Draw, Event, Run, Step, Tensor
from hvdkit.verify import order
from hvdkit.verify.cause import Cause
from hvdkit.verify.invariants import check_invariants

NAME = "the learning rate is the original's, or scaled by the number of ranks"


def run(rates: list[float], per_epoch: int, ranks: int = 1) -> Run:
    """A run with these rates, one draw of one sample for each step."""
    steps = tuple(
        Step(
            0,
            place + 1,
            (rate,),
            (),
            draws=(Draw(0, place // per_epoch, (place,)),),
            loader=0,
            epoch=place // per_epoch,
        )
        for place, rate in enumerate(rates)
    )
    return Run(Path(), dict.fromkeys(range(ranks), steps))


HALVED_EACH_EPOCH = run([0.4] * 4 + [0.2] * 4, 4)

CASES = {
    "as it was": ([0.4, 0.4, 0.2, 0.2, 0.1], True),
    "times the ranks": ([0.8, 0.8, 0.4, 0.4, 0.2], True),
    "never lowered": ([0.4] * 5, False),
    "scaled twice": ([1.6, 1.6, 0.8, 0.8, 0.4], False),
    "scaled in the first epoch only": ([0.8, 0.8, 0.2, 0.2, 0.1], False),
}


@pytest.mark.parametrize("case", CASES)
def test_by_epoch(case):
    rates, right = CASES[case]
    found = {inv.name: inv for inv in check_invariants(HALVED_EACH_EPOCH, run(rates, 2, ranks=2))}
    assert found[NAME].holds is right, found[NAME].detail


def test_a_schedule_that_counts_steps():
    original = run([0.5, 0.4, 0.3, 0.2, 0.1], 4)
    found = {inv.name: inv for inv in check_invariants(original, run([0.5, 0.4, 0.3, 0.2, 0.1], 2, ranks=2))}
    assert found[NAME].holds


@pytest.mark.parametrize("what", WRONG_ORDER)
def test_a_call_that_is_wrong_whatever_comes_out(what):
    """Without an original of several ranks, too; nothing is said of the many that have no such call."""
    right = run([0.4], 2, ranks=2)
    assert order.NAME not in {inv.name for inv in check_invariants(run([0.4], 4), right)}
    steps = right.steps[1]
    wrong = Run(Path(), {0: right.steps[0], 1: (*steps[:-1], replace(steps[-1], events=(Event(what),)))})
    found = {inv.name: inv for inv in check_invariants(run([0.4], 4), wrong)}[order.NAME]
    assert not found.holds and found.cause == Cause(*WRONG_ORDER[what]) and "rank 1" in found.detail


def test_ranks_apart():
    one, other = run([0.4], 2), run([0.8], 2)
    apart = Run(Path(), {0: one.steps[0], 1: other.steps[0]})
    found = {inv.name: inv for inv in check_invariants(run([0.4], 4), apart)}
    assert not found[NAME].holds


@pytest.mark.parametrize(
    ("parts", "words"),
    [("a", "not averaged, as others are: a;"), ("ab", "not averaged, as others are: a, b;"), ("abc", "")],
)
def test_a_part_that_is_not_averaged(parts, words):
    def of_rank(rank: int) -> tuple[Step, ...]:
        held = tuple(
            Tensor(name, (1,), "float32", f"{name}{rank if name in parts else 0}", 1.0) for name in "abc"
        )
        return (Step(0, 1, (0.1,), held),)

    apart = Run(Path(), {rank: of_rank(rank) for rank in range(2)})
    first = check_invariants(run([0.1], 1), apart)[0]
    assert not first.holds and first.detail == "a differs, step 1" and first.cause is not None
    assert first.cause.text.startswith(words or "wrap the optimizer") and "wrap the" in first.cause.text


def test_a_validation_is_no_training():
    """Its loader is drawn from before as many steps, or more: workers draw a whole epoch ahead."""

    def of_rank(rank: int) -> tuple[Step, ...]:
        ahead = tuple(Draw(0, 0, (2 * place + rank,)) for place in range(4))
        draws = {1: ahead, **{n: (Draw(1, n - 2, (7,)), Draw(1, n - 2, (8,))) for n in (2, 3, 4)}}
        return tuple(Step(0, n, (0.1,), (), draws=draws[n], loader=0, epoch=0) for n in draws)

    migrated = Run(Path(), {rank: of_rank(rank) for rank in range(2)})
    found = {inv.name: inv for inv in check_invariants(run([0.1] * 8, 8), migrated)}
    shards = found["ranks train on different samples"]
    assert shards.holds and shards.detail == "0 of 8 samples of the first epoch are on several ranks"


def test_a_look_at_a_batch_is_no_epoch():
    """The pass that it begins is never drawn to its end, and trains nothing."""
    looked = tuple(Draw(0, 0, (index,)) for index in (5, 6, 7))
    ended = Event(PASS_ENDED, "0 1")

    def of_rank(first: tuple[int, ...], *events: Event) -> tuple[Step, ...]:
        draws = tuple(Draw(0, 1, (index,)) for index in first)
        return (Step(0, 1, (0.1,), (), draws=looked + draws, loader=0, epoch=1, events=events),)

    name = "together they train on all samples"
    original = Run(Path(), {0: of_rank((0, 1, 2, 3), ended)})
    for shares, right in ((((0, 1), (2, 3)), True), (((0, 1), (2, 2)), False)):
        ranks = {rank: of_rank(share, ended) for rank, share in enumerate(shares)}
        found = {inv.name: inv for inv in check_invariants(original, Run(Path(), ranks))}
        assert found[name].holds is right
    begun = Run(Path(), {rank: of_rank((rank,)) for rank in range(2)})
    assert name not in {inv.name for inv in check_invariants(original, begun)}


def epochs(*orders: str, sampler: str = "DistributedSampler", ranks: int = 1, event: str = "") -> Run:
    """A run whose passes over one loader draw these samples, a letter each, one for each step."""
    steps = tuple(
        Step(
            0,
            number,
            (0.1,),
            (),
            draws=(Draw(0, epoch, (ord(letter),), sampler),),
            loader=0,
            epoch=epoch,
            events=(Event(event, "0"),) if event else (),
        )
        for number, (epoch, letter) in enumerate(
            ((epoch, letter) for epoch, order in enumerate(orders) for letter in order), start=1
        )
    )
    return Run(Path(), dict.fromkeys(range(ranks), steps))


SHUFFLED = epochs("bdacfe", "fabdec", sampler="RandomSampler")
ORDER = "each epoch has a different order"


@pytest.mark.parametrize(
    ("original", "migrated", "holds"),
    [
        (SHUFFLED, epochs("dbfeac", "dbfeac"), False),
        (SHUFFLED, epochs("dbfeac", "dbfea"), False),
        (SHUFFLED, epochs("dbfeac", "acbdfe", "dbfeac"), False),
        (SHUFFLED, epochs("dbfeac", "dbafec"), True),
        (epochs("bdacfe", sampler="RandomSampler"), epochs("dbfeac", "dbfeac"), False),
        (SHUFFLED, epochs("dbfeac"), None),  # no second epoch
        (SHUFFLED, epochs("dbfeac", "db"), True),  # one in thirty starts like this by chance
        (epochs("abcdef", "abcdef"), epochs("abcdef", "abcdef"), None),
        (epochs("dbfeac", "dbfeac", sampler="Curriculum"), epochs("dbfeac", "dbfeac"), None),
        (epochs("abcdef", sampler="SequentialSampler"), epochs("abcdef", "abcdef"), None),
    ],
)
def test_orders_of_epochs(original, migrated, holds):
    both = Run(Path(), {0: migrated.steps[0], 1: migrated.steps[0]})
    found = {inv.name: inv for inv in check_invariants(original, both)}
    assert (found[ORDER].holds if ORDER in found else None) is holds
    if holds is False:
        assert found[ORDER].cause is not None and "set_epoch" in found[ORDER].cause.text
        assert found[ORDER].detail.endswith("has the order of epoch 0 on rank 0")


def test_orders_of_a_script_alone():
    """It is its own reference: a shuffle that waits for set_epoch is fixed there, too."""
    fixed = epochs("dbfeac", "dbfeac", event=SETS_EPOCH)
    assert not {inv.name: inv for inv in check_invariants(fixed, fixed)}[ORDER].holds
    moved = epochs("dbfeac", "acbdfe", event=SETS_EPOCH)
    assert {inv.name: inv for inv in check_invariants(moved, moved)}[ORDER].holds
    filled = epochs("acefa", "acefa", event=SETS_EPOCH)  # not shuffled; the last place is filled up
    assert ORDER not in {inv.name for inv in check_invariants(filled, filled)}
