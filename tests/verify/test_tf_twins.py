"""Twins of TensorFlow's originals, the parts that need none: rates, lines, decisions, rounding, batches."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.observe.records import DECIDES, ROUNDED, TF_DATA, Draw, Event, Run, Step, Tensor
from hvdkit.verify import tensorflow
from hvdkit.verify.differences import Stage
from hvdkit.verify.hook.twin_rates import Scale
from hvdkit.verify.hook.twin_record import SCALES
from hvdkit.verify.invariants import beside_twins, check_invariants
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.twins.judged import compare_twins
from hvdkit.verify.twins.lines import Line, compare_lines
from hvdkit.verify.twins.numbers import Scales


@pytest.mark.parametrize(
    ("own", "job", "stepped", "factor"),
    [
        ([0.1, 0.1], [0.1, 0.1], [0.1, 0.1], 1.0),
        ([0.1, 0.05], [0.2, 0.1], [0.2, 0.1], 2.0),
        ([0.1, 0.05], [0.2, 0.05], [0.2, 0.1], 2.0),  # scaled at first alone
        ([0.1, 0.1], [0.4, 0.4], [0.1, 0.1], 1.0),  # by size squared
    ],
)
def test_a_twin_steps_at_the_jobs_rate_where_that_is_right(tmp_path, own, job, stepped, factor):
    scale = Scale(tmp_path, 2, tells=True)
    assert [scale.rate_for({1: mine}, theirs) for mine, theirs in zip(own, job)] == stepped
    told = json.loads((tmp_path / SCALES).read_text()) if (tmp_path / SCALES).exists() else {"rates": 1.0}
    assert told["rates"] == factor


def test_a_schedule_may_count_the_steps_of_one_process(tmp_path):
    """One step of two ranks stands for two of the original, from the first step to the last."""

    def rates(pace: int) -> list[float]:
        return [0.1 * 0.9 ** (step * pace) for step in range(4)]

    scale = Scale(tmp_path, 2, tells=False)
    pairs = [{1: one, 2: two} for one, two in zip(rates(1), rates(2))]
    assert [scale.rate_for(own, job) for own, job in zip(pairs, rates(2))] == rates(2)
    wrong = [*rates(2)[:3], rates(1)[3]]
    other = Scale(tmp_path, 2, tells=False)
    assert other.rate_for(pairs[0], wrong[0]) == wrong[0] and other.rate_for(pairs[1], wrong[1]) == wrong[1]
    assert Scale(tmp_path, 2, tells=False).possible == [(1.0, 1), (1.0, 2), (2.0, 1), (2.0, 2)]
    assert other.possible == [(1.0, 2)]
    assert other.rate_for(pairs[3], rates(1)[3]) == rates(1)[3] == pairs[3][1], "its own, unscaled"


def test_how_long_keras_took_is_no_result():
    def line(text: str) -> list[Line]:
        return [Line(text, 4)]

    twins = [line("4/4 - 1s - loss: 0.5000 - val_loss: 0.2500 - 1s/epoch - 250ms/step") for _ in range(2)]
    right = line("4/4 - 0s - loss: 0.5000 - val_loss: 0.2500 - 33ms/epoch - 8ms/step")
    wrong = line("4/4 - 0s - loss: 0.5000 - val_loss: 0.1250 - 33ms/epoch - 8ms/step")
    assert compare_lines(right, twins, Scales(2)) == ([], [])
    assert len(compare_lines(wrong, twins, Scales(2))[0]) == 1
    assert compare_lines([], [line(" 1/4 [====>....] - ETA: 2s - loss: 0.7")] * 2, Scales(2)) == ([], [])


def run(folder: Path, *events: Event, rows: int = 8, ranks: int = 2) -> Run:
    """Ranks that take one step with batches of so many rows; the events are before it."""
    weight = Tensor("dense/kernel", (1,), "float32", "same", 1.0)
    steps = {
        rank: (
            Step(0, 0, (0.1,), (weight,)),
            Step(
                *(0, 1, (0.1,), (weight,)),
                draws=(Draw(0, 0, tuple(range(rank * rows, (rank + 1) * rows)), TF_DATA),),
                loader=0,
                epoch=0,
                events=events,
            ),
        )
        for rank in range(ranks)
    }
    return Run(folder, steps)


def decides(value: float) -> Event:
    return Event(DECIDES, f"EarlyStopping val_loss 0 {value!r}")


@pytest.mark.parametrize("value", [0.25, 1.0])
def test_a_callback_of_the_job_decides_by_the_original_number(tmp_path, value):
    """Ranks that agree on a wrong one are as wrong."""
    twins, tolerance = run(tmp_path, decides(0.5)), tolerance_for(2, None)
    assert compare_twins(twins, run(tmp_path, decides(0.5)), tolerance, run(tmp_path, ranks=1))[0].agree
    comparison, _ = compare_twins(twins, run(tmp_path, decides(value)), tolerance, run(tmp_path, ranks=1))
    first = comparison.differences[0]
    assert (first.stage, first.original, first.migrated) == (Stage.DECISION, "0.5", repr(value))
    assert first.name == "EarlyStopping val_loss 0 on rank 0"


def test_a_rank_that_is_given_nothing_to_decide_by_is_named(tmp_path):
    """Its rate may be sent to it; or it has not changed yet, and would on the other ranks alone."""
    twins, job = (run(tmp_path, decides(0.5)) for _ in range(2))
    start, step = job.steps[1]
    job = Run(tmp_path, {0: job.steps[0], 1: (start, replace(step, events=()))})
    comparison, unchecked = compare_twins(twins, job, tolerance_for(2, None), run(tmp_path, ranks=1))
    assert comparison.agree
    assert [each.reason[:33] for each in unchecked] == ["rank 1 of the job is given no num"]


def test_another_order_of_additions_is_not_bit_for_bit(tmp_path):
    twins = run(tmp_path, Event(ROUNDED, "3e-08"))
    comparison, _ = compare_twins(twins, run(tmp_path), tolerance_for(2, None), run(tmp_path, ranks=1))
    assert comparison.agree and not comparison.identical
    assert comparison.tolerance.relative == 1e-6 and "3e-08 apart" in comparison.tolerance.reason


@pytest.mark.parametrize(("rows", "right"), [(8, True), (4, True), (1, False), (16, False), (2, False)])
def test_the_batch_of_a_rank(tmp_path, rows, right):
    causes = beside_twins(tensorflow.CAUSES)
    found = check_invariants(run(tmp_path, ranks=1), run(tmp_path, rows=rows), causes)
    batch = next(each for each in found if each.name == "a rank's batch is the original's, or a share of it")
    assert batch.holds is right and batch.cause.rule == "HVD709"


def test_a_last_batch_may_be_smaller(tmp_path):
    whole, short = run(tmp_path), run(tmp_path, rows=3)
    job = Run(tmp_path, {r: (*whole.steps[r], replace(short.steps[r][1], number=2)) for r in whole.steps})
    found = check_invariants(run(tmp_path, ranks=1), job, beside_twins(tensorflow.CAUSES))
    assert all(each.holds for each in found if each.cause and each.cause.rule == "HVD709")
