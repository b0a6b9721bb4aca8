"""Evaluations on shares, on hand-made records: reduced or not, on all samples, or drawn from to train."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.verify.evaluations import CAUSE, check_evaluations
from hvdkit.verify.records import PASS_ENDED, Collective, Draw, Event, Run, Step

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
