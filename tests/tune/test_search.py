"""Successive halving on step times that are made up: what is kept, what noise hides, when it stops."""

from __future__ import annotations

import itertools
import math
import time

from hvdkit.launch.tuned import Setting
from hvdkit.tune.search import Candidate, halving

USUAL, FAST, SAME, SLOW, BROKEN = (
    Candidate(name, Setting()) for name in ("usual", "fast", "same", "slow", "broken")
)
STEP = {"usual": 1.0, "fast": 0.8, "same": 1.0, "slow": 2.0, "broken": math.inf}
LATER = time.monotonic() + 1e6


class Jobs:
    """Measures by the table above; noise: factors that jobs get in turn. Remembers what it was asked for."""

    def __init__(self, noise: tuple[float, ...] = (1.0,)) -> None:
        self.noise = itertools.cycle(noise)
        self.run: list[str] = []

    def __call__(self, candidate: Candidate, steps: int) -> float:
        self.run.append(candidate.name)
        return STEP[candidate.name] * next(self.noise)


def test_the_fast_one_is_left_and_the_slow_ones_are_measured_least() -> None:
    jobs = Jobs()
    first, *rest = halving(USUAL, [SLOW, SAME, FAST, BROKEN], jobs, LATER)
    assert (first.candidate, first.gains, first.ratio.middle) == (FAST, True, 0.8)
    assert not any(each.gains for each in rest)
    assert jobs.run.count("fast") == 4
    assert jobs.run.count("slow") == jobs.run.count("broken") == 1


def test_what_is_close_in_the_first_block_is_measured_again() -> None:
    jobs = Jobs()
    close = [Candidate(name, Setting()) for name in ("close 1", "close 2", "close 3")]
    STEP.update({each.name: 0.9 for each in close})
    halving(USUAL, [FAST, *close, SLOW], jobs, LATER)
    assert [jobs.run.count(each.name) for each in (*close, SLOW)] == [3, 2, 2, 1]


def test_noise_that_hides_the_difference_ends_it() -> None:
    jobs = Jobs()
    (tried,) = halving(USUAL, [SAME], jobs, LATER)
    assert not tried.gains
    assert len(jobs.run) == 4  # two blocks of two
    # In the third and the fifth block it is disturbed: its upper quartile never is below 1.
    (tried,) = halving(USUAL, [FAST], Jobs((1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1)), LATER)
    assert (tried.gains, tried.blocks) == (False, 6)


def test_the_order_turns() -> None:
    jobs = Jobs()
    halving(USUAL, [FAST], jobs, LATER)
    assert jobs.run[:4] == ["usual", "fast", "fast", "usual"]


def test_no_job_is_begun_after_the_time() -> None:
    jobs = Jobs()
    assert halving(USUAL, [FAST], jobs, time.monotonic()) == []
    assert jobs.run == []
