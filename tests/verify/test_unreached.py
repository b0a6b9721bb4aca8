"""What the steps did not reach is printed with the number of steps that would; to the end, all is reached."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.observe.records import EVALUATION, PASS_LENGTH, RESUME, TO_END, Draw, Event, Run, Step
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.unreached import unreached

FIXTURES = Path(__file__).parent / "fixtures"
PROGRAM = """
import torch
from tools import keep
torch.load("start.pt")
for epoch in range(3):
    model.eval()
    keep(model)
"""


@pytest.fixture
def script(tmp_path):
    """A program that loads, evaluates, and saves in a module of its own."""
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "tools.py").write_text("def keep(model):\n    torch.save(model, 'm.pt')\n")
    return tmp_path / "train.py"


def run_of(*events: str, epochs: tuple[int, ...] = (0, 0), writes: tuple[str, ...] = ()) -> Run:
    """One rank that took a step for each of `epochs`; two batches a step, of 9 in a pass."""
    told = (*map(Event, events), Event(PASS_LENGTH, "0 9"))
    steps = [
        Step(0, number, (), (), draws=(Draw(0, epoch, (1,)),), batches=("a", "b"), loader=0, epoch=epoch)
        for number, epoch in enumerate(epochs, 1)
    ]
    steps[0] = Step(**{**vars(steps[0]), "events": told, "writes": writes})
    return Run(Path(), {0: tuple(steps)})


def test_what_was_not_reached(script):
    assert [str(missed) for missed in unreached(script, run_of(), ended=False)] == [
        "not reached: the end of an epoch; --steps 6, or --to-end",
        "not reached: evaluation (train.py:6); --steps 6, or --to-end",
        "not reached: saving (tools.py:2); --steps 6, or --to-end",
        "not reached: resume (train.py:4); give it a checkpoint: arguments after `--`",
    ]
    assert [missed.steps for missed in unreached(script, run_of(), ended=False)] == [6, 6, 6, 0]


def test_what_was_reached(script):
    run = run_of(EVALUATION, RESUME, epochs=(0, 1), writes=("m.pt",))
    assert unreached(script, run, ended=False) == ()
    (missed,) = unreached(script, run_of(EVALUATION, RESUME), ended=True)
    assert str(missed) == "not reached: saving (tools.py:2); its condition was not met"


@pytest.mark.launch
def test_to_the_end(tmp_path, monkeypatch):
    """A last checkpoint, after all steps, that every rank of the migrated writes."""
    shutil.copytree(FIXTURES / "plain", tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    for name, rank in (("original.py", "rank"), ("migrated.py", "0")):
        text = Path(name).read_text()
        save = f"    if {rank} == 0:\n        open('last.txt', 'w').close()\n"
        mark = "\n\nif __name__" if "\n\nif __name__" in text else ""
        assert mark and text.count(mark) == 1
        Path(name).write_text(text.replace(mark, f"{save}{mark}"))
    request = Request(Path("original.py"), Path("migrated.py"), steps=TO_END)
    result = verify(request, lambda line: print(line, file=sys.stderr))
    (difference,) = result.comparison.differences
    assert (difference.stage.value, difference.name) == ("file", "last.txt")
    assert "written by rank 0, 1" in difference.migrated
    assert result.not_reached == ()
