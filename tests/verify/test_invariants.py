"""The learning rate of several ranks against that of one process, whose epochs have more steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.verify.invariants import check_invariants
from hvdkit.verify.records import Draw, Run, Step

NAME = "the learning rate is the original's, or scaled by the number of ranks"


def run(rates: list[float], per_epoch: int, ranks: int = 1) -> Run:
    """A run with these rates, one draw of one sample for each step."""
    steps = tuple(
        Step(0, place + 1, (rate,), (), draws=(Draw(0, place // per_epoch, (place,)),))
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


def test_ranks_apart():
    one, other = run([0.4], 2), run([0.8], 2)
    apart = Run(Path(), {0: one.steps[0], 1: other.steps[0]})
    found = {inv.name: inv for inv in check_invariants(run([0.4], 4), apart)}
    assert not found[NAME].holds
