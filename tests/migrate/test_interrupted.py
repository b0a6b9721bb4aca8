"""Writing many files, ended in the middle: each file is the old one or the new one, and undo restores all."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.files import sweep
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.write import apply
from hvdkit.migrate.write.undo import Busy, ChangedSince, alone, undo

BEFORE = "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
AFTER = "import horovod.torch as hvd\n\nhvd.init()\n"
COUNT = 100


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(COUNT):
        (tmp_path / f"train{number}.py").write_text(BEFORE)
    return tmp_path


def texts(tree: Path) -> list[str]:
    return [path.read_text() for path in sorted(tree.glob("*.py"))]


def leftovers(tree: Path) -> list[str]:
    records = [path.name for path in (tree / ".hvdkit").glob(".hvdkit-*")]
    return records + [path.name for path in tree.iterdir() if path.suffix != ".py" and path.name != ".hvdkit"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_stopped_in_the_middle(tree: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan([tree], Options())
    written = 0
    fsync = os.fsync

    def failing(handle: int) -> None:
        nonlocal written
        written += 1
        if written == COUNT // 2:
            raise error
        fsync(handle)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(type(error)):
        apply.write(plan.files, tree)
    monkeypatch.undo()
    assert set(texts(tree)) == {BEFORE, AFTER}
    assert leftovers(tree) == [], "no temporary file stays"
    undo(tree)
    assert texts(tree) == [BEFORE] * COUNT


def test_killed_in_the_middle(tree: Path) -> None:
    command = [sys.executable, "-m", "hvdkit", "migrate", str(tree), "--write", "--allow-no-vcs", "--no-diff"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while AFTER not in texts(tree) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert set(texts(tree)) <= {BEFORE, AFTER}
    undo(tree)
    assert texts(tree) == [BEFORE] * COUNT
    assert leftovers(tree) == []


# Killed while a file is half written: what fsync is called for the second time for is the first of the files.
KILLED = """
import os, signal, sys
from pathlib import Path
from hvdkit.cli import main
calls = 0
def fsync(handle):
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
os.fsync = fsync
main(["migrate", ".", "--write", "--allow-no-vcs", "--no-diff"])
"""


@pytest.mark.parametrize("call", [1, 2, 3])  # the records' .gitignore, the record, the first file
@pytest.mark.parametrize("next_run", ["--undo", "--write"])
def test_the_run_after_a_kill_removes_what_it_left(
    tmp_path: Path, call: int, next_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "train.py").write_text(BEFORE)
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(call)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(leftovers(folder) + leftovers(tmp_path)) >= (2 if call == 3 else 1)
    main(["migrate", ".", next_run, *(["--allow-no-vcs"] if next_run == "--write" else [])])
    assert (folder / "train.py").read_text() == (AFTER if next_run == "--write" else BEFORE)
    if call == 3 or next_run == "--write":
        assert leftovers(folder) == []
        assert leftovers(tmp_path) == ["deep"]


def test_what_another_run_is_writing_is_left(tmp_path: Path) -> None:
    mine, dead = tmp_path / ".hvdkit-0123456789abcdef", tmp_path / ".hvdkit-fedcba9876543210"
    person = tmp_path / ".hvdkit-notes"
    for path in (mine, dead, person):
        path.write_bytes(b"")
    os.mkfifo(tmp_path / ".hvdkit-0000000000000000")
    with mine.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".hvdkit-0000000000000000",
        mine.name,
        person.name,
    ]


def test_a_file_that_changed_since_it_was_read_is_not_written(tree: Path) -> None:
    plan = make_plan([tree], Options())
    (tree / "train7.py").write_text("mine\n")
    with pytest.raises(ChangedSince, match=r"train7\.py was changed while hvdkit looked at it"):
        apply.write(plan.files, tree)
    assert sorted(set(texts(tree))) == [BEFORE, "mine\n"]


def test_a_second_run_waits_and_then_gives_up(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan([tree], Options())
    monkeypatch.setattr("hvdkit.migrate.write.undo._PATIENCE_SECONDS", 0.2)
    with alone(tree):
        for act in (lambda: apply.write(plan.files, tree), lambda: undo(tree)):
            if not (tree / ".hvdkit" / "undo-1.json").exists():
                (tree / ".hvdkit" / "undo-1.json").write_text("[]")
            with pytest.raises(Busy, match="another hvdkit writes below"):
                act()
    (tree / ".hvdkit" / "undo-1.json").unlink()
    apply.write(plan.files, tree)
    assert texts(tree) == [AFTER] * COUNT


def test_two_runs_at_once(tree: Path) -> None:
    """One of them writes all; the other finds nothing to do, or files that have changed."""
    command = [sys.executable, "-m", "hvdkit", "migrate", str(tree), "--write", "--allow-no-vcs", "--no-diff"]
    runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    said = [run.communicate()[1].decode() for run in runs]
    assert sorted(run.returncode for run in runs) in ([0, 0], [0, 2]), said
    assert "Traceback" not in "".join(said)
    assert texts(tree) == [AFTER] * COUNT
    undo(tree)
    assert texts(tree) == [BEFORE] * COUNT
    assert leftovers(tree) == []


def test_a_read_only_file_system(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the error is what the system call would say."""
    plan = make_plan([tree], Options())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("hvdkit.files._temporary", refuse)
    with pytest.raises(OSError, match="Read-only"):
        apply.write(plan.files, tree)
    assert texts(tree) == [BEFORE] * COUNT
