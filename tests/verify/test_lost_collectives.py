"""Collectives of an original without a counterpart in the migrated, on hand-made records."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hvdkit.observe.records import Collective, Event, Run, Step
from hvdkit.verify.causes import likely_causes
from hvdkit.verify.compare import compare
from hvdkit.verify.differences import Stage
from hvdkit.verify.tolerance import tolerance_for

UNKNOWN = math.nan


def call(kind: str, norm: float, line: int = 1, held: bool = False) -> Collective:
    return Collective(kind, norm, f"train.py:{line}", held)


def run(*calls: Collective, events: tuple[Event, ...] = (), steps: int = 3) -> Run:
    taken = tuple(Step(0, n, (0.1,), (), collectives=calls, events=events) for n in range(1, steps + 1))
    return Run(Path(), {0: taken, 1: taken})


def lost(original: Run, migrated: Run) -> list[str]:
    found = compare(original, migrated, tolerance_for(2, None))
    assert all(d.stage is Stage.COLLECTIVE for d in found.differences)
    return [d.name for d in found.differences]


LOSS, RIGHT, TOTAL = call("allreduce", 0.7, 1), call("allreduce", 3.0, 2), call("allreduce", 8.0, 3)

CASES = {
    "the only one": ([RIGHT], [], ["train.py:2"]),
    "one of three": ([LOSS, RIGHT, TOTAL], [LOSS, TOTAL], ["train.py:2"]),
    "of the same kind and another value": ([LOSS, RIGHT], [call("allreduce", 0.35)], ["train.py:2"]),
    "gathered objects": ([call("allgather", UNKNOWN, 9)], [], ["train.py:9"]),
    "beside a broadcast of the state": ([RIGHT], [call("broadcast", UNKNOWN)], ["train.py:2"]),
    "beside a gradient's": ([RIGHT], [call("allreduce", 5.0, held=True)], ["train.py:2"]),
    "all there": ([LOSS, RIGHT], [LOSS, RIGHT], []),
    "averaged where it was summed": ([RIGHT], [call("allreduce", 1.5)], []),
    "two in one": ([RIGHT, TOTAL], [call("allreduce", 73**0.5)], []),
    "two in one, averaged": ([RIGHT, TOTAL], [call("allreduce", 73**0.5 / 2)], []),
    "gathered and added up": ([RIGHT], [call("allgather", 2.3)], []),
    "not waited for": ([RIGHT], [call("allreduce", UNKNOWN)], []),
    "another value": ([RIGHT], [call("allreduce", 2.9)], []),
    "a gradient": ([call("allreduce", 5.0, 4, held=True)], [], []),
    "parameters one by one": ([call("broadcast", 1.0, 5)] * 4, [call("broadcast", UNKNOWN)], []),
    "more than before": ([RIGHT], [RIGHT, TOTAL], []),
    "zeros": ([call("allreduce", 0.0)], [call("allreduce", 0.0)], []),
}


@pytest.mark.parametrize("case", CASES)
def test_lost(case):
    before, now, places = CASES[case]
    assert lost(run(*before), run(*now)) == places


def test_a_model_sent_at_once():
    sent = run(events=(Event("broadcast", ""),))
    assert lost(run(*[call("broadcast", 1.0, 5)] * 4), sent) == []
    assert lost(run(RIGHT), sent) == ["train.py:2"]


def test_made_in_some_steps_only():
    """Its place has a counterpart where it has one in any step: another path through the script."""
    original = run(RIGHT)
    some = tuple(
        Step(0, step.number, (0.1,), (), collectives=(RIGHT,) if step.number == 2 else ())
        for step in original.steps[0]
    )
    assert lost(original, Run(Path(), {0: some, 1: some})) == []


def test_named_with_its_place():
    found = compare(run(LOSS, RIGHT), run(LOSS), tolerance_for(2, None))
    [difference] = found.differences
    assert (difference.original, difference.migrated) == ("allreduce, Euclidean norm 3", "no counterpart")
    assert not found.agree
    [cause] = likely_causes(found)
    assert cause.rule == "HVD501"
    assert cause.text.startswith("the original's allreduce at train.py:2 was dropped")
