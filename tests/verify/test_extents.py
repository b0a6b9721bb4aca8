"""How far runs go where no number of steps is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.observe.records import EVALUATION, PASS_ENDED, TO_END, Event, Run, Step
from hvdkit.verify.extents import MOST_STEPS, far_enough, reaching
from hvdkit.verify.failures import failed
from hvdkit.verify.hook.extent import Extent
from hvdkit.verify.hook.settings import Settings, from_environment
from hvdkit.verify.reached import EPOCH, EVALUATES, LOADS, SAVES
from hvdkit.verify.runner import RunError
from hvdkit.verify.scene import Request, Scene
from hvdkit.verify.tolerance import tolerance_for

EPOCH_ENDS, EVALUATED = Event(PASS_ENDED, "0 0"), Event(EVALUATION)


def scene(folder: Path) -> Scene:
    return Scene(Request(Path("a.py"), Path("b.py"), reach=True), folder, folder, print)


def run(folder: Path, count: int) -> Run:
    """An evaluation comes before step 7, a file before step 9."""
    steps = [Step(0, number, (0.1,), (), loader=0 if number else -1) for number in range(count + 1)]
    if count >= 7:
        steps[7] = replace(steps[7], events=(EPOCH_ENDS, EVALUATED))
    if count >= 9:
        steps[9] = replace(steps[9], writes=("model.pt",))
    return Run(folder, {0: tuple(steps)})


def test_as_far_as_what_is_reached_last(tmp_path):
    found, original, [note] = far_enough(scene(tmp_path), run(tmp_path, 12), (EPOCH, EVALUATES, SAVES, LOADS))
    assert (found.request.steps, original.taken(0)) == (9, 9)
    assert note.startswith("compared 9 steps, to reach: the end of an epoch, evaluation, saving, resume")


def test_to_the_end_where_the_original_ends_within_the_budget(tmp_path):
    (tmp_path / "ended").mkdir()
    (tmp_path / "ended" / "0").touch()
    found, original, _ = far_enough(scene(tmp_path), run(tmp_path, 8), (EPOCH, SAVES))
    assert found.request.steps == TO_END and original.taken(0) == 8


def test_steps_that_were_asked_for_stay(tmp_path):
    asked = Settings("", 1, 5)
    assert reaching(asked, ()) is asked
    found, _, notes = far_enough(scene(tmp_path), run(tmp_path, 8), ())
    assert found.request.steps == 5 and notes == ()


def test_a_run_ends_once_all_is_reached_and_not_before_its_least(monkeypatch):
    settings = reaching(Settings("", 1, 5), (EPOCH, SAVES))
    extent = Extent(from_environment(settings.to_environment()) or settings)
    assert not extent.is_done(5)
    extent.note((EPOCH_ENDS,), (), 0)
    assert not extent.is_done(6)
    extent.note((), ("model.pt",), 0)
    assert extent.is_done(6) and not extent.is_done(4)


def test_a_run_ends_with_its_budget():
    settings = reaching(Settings("", 1, 5), (EPOCH, LOADS))
    extent = Extent(settings)
    assert extent.is_done(MOST_STEPS) and not extent.is_done(MOST_STEPS - 1)
    extent.begun -= settings.seconds + 1
    assert extent.is_done(5)


@pytest.mark.parametrize("taken", [0, 3])
def test_a_rank_that_fails_where_the_original_does_not(tmp_path, taken):
    """Without a step the script cannot be run at all, which is no difference."""
    error = RunError("it failed")
    error.record, error.work = tmp_path, tmp_path / "work"
    (tmp_path / "errors").mkdir()
    (tmp_path / "errors" / "17 rank 1").write_text(
        f'rank 1:\nTraceback:\n  File "{error.work}/train.py", line 35, in <module>\n'
        '  File "/lib/torch.py", line 4, in load\nFileNotFoundError: best.pt\n'
    )
    lines = [step.to_line() + "\n" for step in run(tmp_path, taken).steps[0]]
    (tmp_path / "rank-1-123.jsonl").write_text("".join(lines))
    found = failed(run(tmp_path, 9), error, tolerance_for(2, None))
    if not taken:
        assert found is None
        return
    assert found is not None
    [difference] = found.differences
    assert (difference.rank, difference.step, difference.migrated) == (1, 3, "FileNotFoundError: best.pt")
    assert difference.places == ("", "train.py:35")
