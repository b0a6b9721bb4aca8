"""What runs with the same weights print and save: the same numbers, but for those that no two runs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.observe.records import Run, Saved, Step, Tensor
from hvdkit.verify.differences import NO_RANK, Stage
from hvdkit.verify.twins.files import Side
from hvdkit.verify.twins.numbers import Scales
from hvdkit.verify.twins.outputs import output_differences


def side(
    folder: Path, line: str = "accuracy 0.75", epoch: int = 3, file: str = "model.pt", log: str = ""
) -> Side:
    """Rank 0 prints and saves before its first step; rank 1 does neither."""
    values = (Tensor("epoch", (), "int", str(epoch), 0.0), Tensor("rng", (8,), "uint8", file + line, 0.0))
    files = (file, "log.txt") if log else (file,)
    first = Step(
        *(0, 1, (0.1,), ()),
        writes=files,
        written_at=("train.py:9",) * len(files),
        saved=(Saved(file, values, "train.py:9"),),
        printed=(line,),
        printed_at=("train.py:8",),
    )
    if log:
        (folder / "texts" / "0").mkdir(parents=True)
        (folder / "texts" / "0" / "log.txt").write_text(log)
    return Side(Run(folder, {0: (first,), 1: (Step(0, 1, (0.1,), ()),)}), (0, 1))


@pytest.mark.parametrize(
    ("changed", "stage", "seen"),
    [
        ({}, None, ""),
        ({"line": "accuracy 0.375"}, Stage.PRINTED, "accuracy 0.375"),
        ({"line": "accuracy 0.75 (rank 0)"}, None, ""),  # another line is no other number
        ({"epoch": 6}, Stage.CONTENTS, "6"),
        ({"file": "model-2.pt"}, Stage.FILES, NO_RANK),
        ({"log": "0,0.75\n1,0.40\n"}, Stage.CONTENTS, "1,0.40"),
    ],
)
def test_a_number_that_differs(tmp_path, changed, stage, seen):
    original = side(tmp_path / "original", log="0,0.75\n1,0.80\n")
    job = side(tmp_path / "job", **{"log": "0,0.75\n1,0.80\n", **changed})
    found, _ = output_differences(job, [original], Scales(2), tensors=False)
    assert [(one.stage, one.migrated) for one in found] == ([(stage, seen)] if stage else [])
    assert all(one.places[0] for one in found)


def test_a_number_that_differs_between_two_runs_of_the_original_is_compared_with_none(tmp_path):
    originals = [side(tmp_path / "one", "took 1.25"), side(tmp_path / "two", "took 1001.25")]
    job = side(tmp_path / "job", "took 1.5")
    assert output_differences(job, originals[:1], Scales(2), tensors=False)[0]
    assert output_differences(job, originals, Scales(2), tensors=False)[0] == []


@pytest.mark.parametrize(("at", "also"), [((1, 2), (1,)), ((1,), (1, 2)), ((1, 2), (1, 2))])
def test_a_file_is_saved_when_the_original_saves_it(tmp_path, at, also):
    """A best checkpoint that is written in each epoch has other weights in the end."""

    def saves(numbers: tuple[int, ...]) -> Side:
        held = (Saved("best.pt", (), "train.py:9"),)
        steps = (Step(0, n, (0.1,), (), writes=("best.pt",), saved=held) for n in numbers)
        return Side(Run(tmp_path, {0: tuple(steps)}), (0,))

    found, _ = output_differences(saves(also), [saves(at)], Scales(2))
    seen = [(one.stage, one.step, one.original, one.migrated) for one in found]
    words = ("saved", "not saved") if len(at) > len(also) else ("not saved", "saved")
    assert seen == ([] if at == also else [(Stage.FILES, 2, *words)])


def test_what_twins_hold_alike_is_compared_with_every_bit(tmp_path):
    """A generator's state is the same in all twins here; of ranks with the same weights it need not be."""
    original, job = side(tmp_path / "one", "loss 0.5"), side(tmp_path / "job", "loss 0.50")
    [found], _ = output_differences(job, [original], Scales(2))
    assert (found.stage, found.name) == (Stage.CONTENTS, "model.pt: rng")
    assert output_differences(job, [original], Scales(2), tensors=False)[0] == []
