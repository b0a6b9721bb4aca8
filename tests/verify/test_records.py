"""Records survive the way to disk; half a line of a killed rank is left out."""

from __future__ import annotations

import math

import pytest

from hvdkit.observe.records import Draw, Event, RecordError, Step, Tensor, read_run

STEP = Step(
    optimizer=0,
    number=1,
    rates=(0.1,),
    parameters=(Tensor("w", (2, 3), "float32", "ab", 1.5),),
    buffers=(Tensor("b", (), "int64", "cd", math.inf),),
    losses=(0.25,),
    draws=(Draw(0, 1, (4, 5), "DistributedSampler"),),
    events=(Event("load", "Net"),),
    writes=("model.pt",),
    values="values/x.pt",
)


def test_round_trip():
    assert Step.from_line(STEP.to_line()) == STEP


def test_half_a_line_is_left_out(tmp_path):
    (tmp_path / "rank-0-17.jsonl").write_text(STEP.to_line() + "\n" + STEP.to_line()[:30])
    run = read_run(tmp_path)
    assert run.steps == {0: (STEP,)} and run.taken(0) == 1 and run.world == 1


def test_two_processes_with_one_rank(tmp_path):
    for process in (17, 18):
        (tmp_path / f"rank-0-{process}.jsonl").write_text(STEP.to_line() + "\n")
    with pytest.raises(RecordError, match="as rank 0"):
        read_run(tmp_path)
