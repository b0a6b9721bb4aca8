"""A script that cannot be run to a result: its own words are shown, and nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ports import free_port

from hvdkit.verify.runner import HangError, NoStepError, RunError
from hvdkit.verify.scene import Request
from hvdkit.verify.session import WorldError, verify

pytestmark = pytest.mark.launch

FIXTURES = Path(__file__).parent / "fixtures"
STEP = "            optimizer.step()\n"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str, old: str, new: str, **options) -> None:
    """Verify the plain fixture with one text replaced in one script."""
    monkeypatch.chdir(folder)
    for name in ("original.py", "migrated.py"):
        text = (FIXTURES / "plain" / name).read_text()
        if name == script:
            assert old in text
            text = text.replace(old, new)
        (folder / name).write_text(text)
    verify(
        Request(Path("original.py"), Path("migrated.py"), steps=2, **options),
        lambda line: print(line, file=sys.stderr),
    )


def test_crash_shows_the_scripts_own_traceback(tmp_path, monkeypatch):
    broken = "            if rank == 1:\n                labels.no_such_thing()\n" + STEP
    with pytest.raises(RunError) as error:
        run(tmp_path, monkeypatch, "original.py", STEP, broken)
    said = str(error.value)
    assert "rank 1:" in said and "labels.no_such_thing()" in said and "AttributeError" in said
    assert f"{tmp_path}/original.py" in said, "the file is named where the user has it"
    assert "hvdkit/verify/hook" not in said
    assert "fix: make this command work: torchrun --nproc-per-node 2" in said


def test_bad_script_argument_shows_its_usage(stage):
    plain = stage("plain")
    script = plain.edited(
        {"hvd.init()": "import argparse; argparse.ArgumentParser().parse_args(); hvd.init()"}
    )
    with pytest.raises(RunError, match="unrecognized arguments: --colour"):
        plain.run(script, arguments=("--colour",))


def test_no_steps(tmp_path, monkeypatch):
    with pytest.raises(NoStepError, match="original script ended without an optimizer step"):
        run(tmp_path, monkeypatch, "original.py", "range(3)", "range(0)")


def test_hang_shows_where_each_rank_is(stage):
    plain = stage("plain")
    script = plain.edited({STEP: "            if rank == 0:\n                hvd.barrier()\n" + STEP})
    with pytest.raises(HangError) as error:
        plain.run(script, timeout=25.0)
    said = str(error.value)
    assert "rank 0, process" in said and "rank 1, process" in said
    assert str(script) in said and "barrier" in said


def test_a_slow_start_is_no_hang(stage):
    """On a busy machine the ranks import for longer than a hang may last."""
    plain = stage("plain")
    script = plain.edited({"hvd.init()": "import time; time.sleep(25); hvd.init()"})
    assert plain.run(script, timeout=20.0).taken(0) == plain.settings.steps


def test_an_original_that_makes_another_number_of_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    port = str(free_port())
    for name in ("original.py", "migrated.py"):
        text = (FIXTURES / "gan" / name).read_text().replace("29771", port)
        (tmp_path / name).write_text(text.replace("WORLD = 2", "WORLD = 3"))
    with pytest.raises(WorldError, match="trained on 3 ranks, not 2"):
        verify(Request(Path("original.py"), Path("migrated.py"), steps=2), lambda line: None)


def test_the_rank_that_ends_first_is_named(tmp_path, monkeypatch):
    early = STEP + "            if rank == 1:\n                return\n"
    with pytest.raises(RunError) as error:
        run(tmp_path, monkeypatch, "migrated.py", STEP, early)
    assert "why: rank 1 ended first (steps taken: 1)" in str(error.value)
