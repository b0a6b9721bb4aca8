"""Shares of the data that no loader draws, by the rows that models are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import GIVEN_ROWS, Draw, Run, Step
from hvdkit.verify.cause import Cause
from hvdkit.verify.rows import check_rows

CAUSE = Cause("HVD302", "divide the data")


def run(*ranks: range | list[int]) -> Run:
    """Each rank is given these rows, four before each step."""
    steps = {}
    for rank, rows in enumerate(ranks):
        parts = [rows[at : at + 4] for at in range(0, len(rows), 4)]
        given = [Draw(GIVEN_ROWS, GIVEN_ROWS, tuple(f"row {row}" for row in part)) for part in parts]
        steps[rank] = tuple(Step(0, n, (0.1,), (), contents=(draw,)) for n, draw in enumerate(given, 1))
    return Run(Path(), steps)


@pytest.mark.parametrize(
    ("ranks", "holds"),
    [
        # The second epoch of a rank begins with what the other had in the first.
        (([*range(0, 48, 2), *range(1, 17, 2)], [*range(1, 48, 2), *range(0, 16, 2)]), True),
        ((range(24), range(12, 36)), False),
        ((range(48), range(48)), False),
    ],
)
def test_shares_of_an_original_that_draws_each_row_once(ranks, holds):
    found = check_rows(run(range(40)), run(*ranks), CAUSE)
    assert [held.holds for held in found.invariants] == [holds]


def test_what_is_drawn_with_replacement_may_be_on_several_ranks():
    found = check_rows(run([1, 2, 1, 3]), run([1, 2, 3, 4], [2, 3, 5, 6]), CAUSE)
    assert not found.invariants and "with replacement" in found.unchecked[0].reason


@pytest.mark.parametrize(("step", "holds"), [(2, True), (4, False)])
def test_rows_that_no_rank_is_given(step, holds):
    """Told where both begin a second epoch; half of the share skips half of the data."""
    whole = [*range(48), *range(48)]
    ranks = [[*range(rank, 48, step), *range(rank, 48, step)] for rank in (0, 1)]
    found = {held.name: held for held in check_rows(run(whole), run(*ranks), CAUSE).invariants}
    assert found["together they train on all samples"].holds is holds
    assert len(check_rows(run(range(48)), run(*ranks), CAUSE).invariants) == 1
