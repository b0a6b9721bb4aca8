"""Metrics the number of ranks too large or too small, where they are printed or saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import Collective, Run, Step
from hvdkit.verify.causes import likely_causes
from hvdkit.verify.compare import compare
from hvdkit.verify.differences import Stage
from hvdkit.verify.hook.contents import saved
from hvdkit.verify.tolerance import tolerance_for


def run(norm: float, *printed: str, acc: float = 0.5) -> Run:
    calls = (Collective("allreduce", norm, "train.py:7"),)
    files = (saved("best.pt", {"acc": acc}),)
    return Run(Path(), {0: (Step(0, 1, (0.1,), (), collectives=calls, printed=printed, saved=files),)})


def apart(one: Run, other: Run) -> list[str]:
    one.steps[1] = other.steps[1] = (Step(0, 1, (0.1,), ()),)
    found = compare(one, other, tolerance_for(2, None))
    assert all(d.stage is Stage.PRINTED for d in found.differences)
    if found.differences:
        [cause] = likely_causes(found)
        assert "2 times too large or too small" in cause.text
    return [d.migrated for d in found.differences]


def test_a_sum_that_became_an_average():
    wrong = "epoch 0: loss 0.3466"
    assert apart(run(26.0, "epoch 0: loss 0.6931"), run(13.0, wrong)) == [wrong]
    assert apart(run(26.0, "loss 6.931e-1"), run(13.0, "loss 3.466e-01")) == ["loss 3.466e-01"]
    assert apart(run(13.0, "accuracy 0.45"), run(26.0, "accuracy 0.90")) == ["accuracy 0.90"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("loss 0.6931", "loss 0.6931"),  # divided to match
        ("loss 0.6931", "loss 0.4211"),  # not by the number of ranks
        ("took 2 s", "took 1 s"),  # one digit says nothing
        ("loss 0.6931", "mean loss 0.3466"),  # another line
        ("loss 0.6931", "loss 1.3862"),  # a time: the other way than the collective
    ],
)
def test_right_or_not_known(before, now):
    assert apart(run(26.0, before), run(13.0, now)) == []


def test_without_a_rescaled_collective():
    assert apart(run(26.0, "10.00 s"), run(26.0, "20.00 s")) == []


def test_the_line_is_found_among_others():
    one = run(26.0, "starting", "epoch 0: loss 0.6931", "epoch 1: loss 0.5000")
    other = run(13.0, "epoch 0: loss 0.6931", "rank 0 here", "epoch 1: loss 0.2500")
    assert apart(one, other) == ["epoch 1: loss 0.2500"]


def test_a_saved_number():
    assert apart(run(26.0, acc=0.8125), run(13.0, acc=0.40625)) == ["acc 0.40625"]
    assert apart(run(26.0, acc=0.8125), run(13.0, acc=0.8125)) == []
