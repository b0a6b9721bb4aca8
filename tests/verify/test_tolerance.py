"""How far apart two right runs may be."""

from __future__ import annotations

from hvdkit.verify.tolerance import tolerance_for


def test_two_ranks_leave_no_room():
    assert tolerance_for(1, None).at(5) == tolerance_for(2, None).at(5) == 0.0


def test_more_ranks_leave_rounding_that_grows_with_steps():
    four = tolerance_for(4, None)
    assert 0 < four.at(1) == four.at(0) < four.at(5) < 1e-3
    assert tolerance_for(3, None).at(1) < four.at(1)
    assert "3 additions" in four.reason


def test_what_is_asked_for_wins():
    assert tolerance_for(2, 0.01).at(1) == 0.01
