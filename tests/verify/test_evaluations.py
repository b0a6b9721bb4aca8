"""Evaluations on shares, on hand-made records: reduced or not, on all samples, or drawn from to train."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.observe.records import PASS_ENDED, Collective, Draw, Event, Run, Step, Tensor
from hvdkit.verify.differences import Difference, Stage
from hvdkit.verify.evaluations import CAUSE, by_own_statistics, check_evaluations
from hvdkit.verify.twins.numbers import Scales, is_wrong
from hvdkit.verify.twins.own_statistics import differences_apart_from

TRAINING, OTHER = 0, 1
SUM = (Collective("allreduce", 1.0, "train.py:9"),)


def rank(validated: set[int], reduced: bool, every: int = 3) -> tuple[Step, ...]:
    """Six steps; before each third one, or each, a whole pass over a second loader."""
    steps = []
    for number in range(7):
        held_back = number > 1 and number % every == 0
        epoch = number // every
        steps.append(
            Step(
                0,
                number,
                (0.1,),
                (),
                draws=(Draw(OTHER, epoch, tuple(sorted(validated))),) if held_back else (),
                events=(Event(PASS_ENDED, f"{OTHER} {epoch}"),) if held_back else (),
                collectives=SUM if held_back and reduced else (),
                loader=TRAINING,
                epoch=epoch,
            )
        )
    return tuple(steps)


def found(*ranks: tuple[Step, ...]) -> list[tuple[bool, str]]:
    return [(each.holds, each.detail) for each in check_evaluations(Run(Path(), dict(enumerate(ranks))))]


@pytest.mark.parametrize("reduced", [True, False])
def test_shares_are_to_be_reduced(reduced: bool) -> None:
    seen = "2 evaluations" if reduced else "2 of 2 evaluations are not reduced"
    assert found(rank({8, 10}, reduced), rank({9, 11}, reduced)) == [(reduced, seen)]
    assert "each rank evaluates on its own share" in CAUSE.text


def test_one_of_several_evaluations_is_enough() -> None:
    first = rank({8, 10}, True)
    late = (*first[:6], replace(first[6], collectives=()))
    other = rank({9, 11}, True)
    late_too = (*other[:6], replace(other[6], collectives=()))
    assert found(late, late_too) == [(False, "1 of 2 evaluations are not reduced")]


def test_nothing_is_said_of_all_samples_on_every_rank() -> None:
    assert found(rank({8, 9}, False), rank({8, 9}, False)) == []


def test_a_second_loader_that_is_drawn_from_in_each_step_evaluates_nothing() -> None:
    assert found(rank({8, 10}, False, every=1), rank({9, 11}, False, every=1)) == []


@pytest.mark.parametrize(("name", "own"), [("1.running_mean", True), ("scale", False)])
@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize(("printed", "near"), [("0.60", True), ("0.30", False)])
def test_what_statistics_of_each_rank_explain_is_not_checked(name, own, shares, printed, near):
    """The original prints 0.61."""
    ranks = []
    for value, validated in enumerate(({8, 10}, {9, 11} if shares else {8, 10})):
        held = (Tensor(name, (1,), "float32", str(value), 1.0),)
        ranks.append(tuple(replace(step, buffers=held) for step in rank(validated, True)))
    job = Run(Path(), dict(enumerate(ranks)))
    assert by_own_statistics(job) is (own and shares)

    def find(scales: Scales) -> list[Difference]:
        wrong = is_wrong(printed, ["0.61", "0.61"], scales)
        return [Difference(Stage.PRINTED, 3, 0, 0, "", "0.61", printed)] if wrong else []

    found, unchecked = differences_apart_from(find, job, Scales(2))
    assert bool(unchecked) is (own and shares and near) is not bool(found)
    assert all("'0.61' there, '0.60' here" in each.reason for each in unchecked)
