"""Writing many files, ended in the middle: each file is the old one or the new one, and undo restores all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.write import apply
from hvdkit.migrate.write.undo import undo

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
    return [path.name for path in tree.iterdir() if path.suffix != ".py" and path.name != ".hvdkit"]


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


def test_a_read_only_file_system(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the error is what the system call would say."""
    plan = make_plan([tree], Options())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(OSError, match="Read-only"):
        apply.write(plan.files, tree)
    assert texts(tree) == [BEFORE] * COUNT
