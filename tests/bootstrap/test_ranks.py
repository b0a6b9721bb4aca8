"""Ranks as processes: how they failed, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hvdkit.bootstrap import ranks
from hvdkit.bootstrap.board import Failure
from hvdkit.bootstrap.errors import NodeListError

pytestmark = pytest.mark.launch

# Starts a process of its own, says which, and does not end when it is asked to.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1] + os.environ["NUMBER"], "w").write(str(child.pid))
time.sleep(600)
"""


def started(code: str, *arguments: str) -> list[ranks.Rank]:
    return ranks.start(
        [sys.executable, "-c", code, *arguments], [{"NUMBER": "2"}, {"NUMBER": "3"}], 2, with_output=False
    )


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ranks_that_end_well() -> None:
    mine = started("import os; assert os.environ['NUMBER'] in '23'")
    wait_for(lambda: ranks.all_done(mine))
    assert ranks.failure(mine, "a") is None


def test_a_rank_that_fails_is_named_with_its_exit_code() -> None:
    mine = started("import os, sys; sys.exit(7 if os.environ['NUMBER'] == '3' else 0)")
    wait_for(lambda: ranks.failure(mine, "a") is not None)
    assert ranks.failure(mine, "a") == Failure("rank 3 on a ended with exit code 7", by_signal=False)
    assert not ranks.all_done(mine)


def test_a_rank_that_is_killed_is_named_before_one_that_ended() -> None:
    mine = started("import os, sys, time; os.environ['NUMBER'] == '2' and sys.exit(1); time.sleep(600)")
    mine[1].process.kill()
    wait_for(lambda: all(rank.process.poll() is not None for rank in mine))
    assert ranks.failure(mine, "b") == Failure("rank 3 on b was killed by SIGKILL", by_signal=True)


def test_end_leaves_nothing(tmp_path: Path) -> None:
    mine = started(STUBBORN, str(tmp_path / "child"))
    files = [tmp_path / "child2", tmp_path / "child3"]
    wait_for(lambda: all(file.is_file() and file.read_text() for file in files))
    children = [psutil.Process(int(file.read_text())) for file in files]
    ranks.end(mine)
    assert [rank.process.returncode for rank in mine] == [-signal.SIGKILL] * 2
    for child in children:
        wait_for(lambda child=child: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_rank_ends_with_the_process_that_started_it() -> None:
    # The starter prints its rank's number and is killed: nobody is left to end the rank.
    rank = (
        "import sys, time; from hvdkit.bootstrap import ranks; "
        "sys.stdout.write(f'{ranks.follow_starter()}\\n'); time.sleep(600)"
    )
    starter = (
        "import os, sys; from hvdkit.bootstrap import ranks; "
        f"mine = ranks.start([sys.executable, '-c', {rank!r}], [{{}}], 0, with_output=True); "
        "print(mine[0].process.pid, flush=True); mine[0].process.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = {process.stdout.readline().strip(), process.stdout.readline().strip()}
    assert "True" in said
    orphan = psutil.Process(int((said - {"True"}).pop()))
    process.kill()
    process.wait()
    wait_for(lambda: not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE)


def test_a_process_that_nobody_started_follows_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ranks.STARTED_BY, raising=False)
    assert ranks.follow_starter() is False


def test_a_rank_whose_starter_is_gone_already_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ranks.STARTED_BY, "1")
    code = "from hvdkit.bootstrap import ranks; ranks.follow_starter(); print('alive')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert "the process that started this rank is gone" in result.stderr


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (["-u", "train.py", "--lr", "1"], ["-u", "train.py", "--lr", "1"]),
        (["-m", "train", "x"], ["-m", "train", "x"]),
    ],
)
def test_the_script_is_started_again_as_it_was(start: list[str], again: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from hvdkit.bootstrap import ranks; print(ranks.again())")
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(
        [sys.executable, *start], capture_output=True, text=True, check=True, cwd=tmp_path, env=environ
    )
    expected = [sys.executable, *again]
    if sys.version_info < (3, 10):  # the interpreter's own options are not known there
        expected.remove("-u")
    assert result.stdout.strip() == str(expected)


def test_a_notebook_has_no_script() -> None:
    code = "from hvdkit.bootstrap import ranks; ranks.again()"
    result = subprocess.run([sys.executable, "-i"], input=code, capture_output=True, text=True, check=False)
    assert NodeListError.__name__ in result.stderr
    assert "in an interactive session or a notebook" in result.stderr
