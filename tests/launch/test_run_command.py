"""`hvdkit run` on one machine: what it refuses, what it prints, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hvdkit.cli import main

SCRIPT = """\
import os, sys, time
rank = int(os.environ.get("HOROVOD_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
sys.stderr.write("\\r 50%")  # a progress bar ends no line
sys.stderr.flush()
print("rank", rank, "token", os.environ.get("TOKEN"), "named", os.environ.get("NAMED"), flush=True)
if sys.argv[1:] == ["fail"]:
    if rank == 1:
        while not os.path.exists("rank 0 has printed"):
            time.sleep(0.1)
        raise ValueError("boom")
    open("rank 0 has printed", "w").close()
    time.sleep(600)
if sys.argv[1:] == ["sleep"]:
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hvdkit", "run", *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "no command to run"),
        (["-np", "0", "python"], "-np 0"),
        (["-np", "2", "-H", "a;id:2", "python"], "not a host name"),
        (["-np", "3", "-H", "localhost:2", "python"], "has room for 2"),
        (["no-such-program"], "no such program"),
        (["pyhton", "train.py"], "pyhton: no such program\n  fix: hvdkit run ... python train.py"),
        (["pytohn3", "-u", "a b.py"], "fix: hvdkit run ... python3 -u 'a b.py'"),
        (["missing.py"], "missing.py: no such file"),
        (["-x", "NOT_SET_HERE", "python"], "it is not set here"),
        (["--hostfile", "none", "python"], "No such file"),
    ],
)
def test_bad_input(arguments: list[str], part: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *arguments]) == 2
    assert part in capsys.readouterr().err


def test_an_unfinished_migration_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text("x = 1\n# hvdkit: TODO[HVD204] say which ranks are in the group\n")
    assert main(["run", "-np", "2", "python", "train.py"]) == 2
    assert "train.py:2: HVD204: say which ranks" in capsys.readouterr().err


@pytest.mark.launch
@pytest.mark.parametrize("controller", ["--gloo", "--mpi"])
def test_the_first_failure_is_told_last(folder: Path, controller: str) -> None:
    job = start(
        *("-np", "2", controller, "-x", "NAMED", "--log-dir", "logs", "python", "train.py", "fail"),
        TOKEN="not for ranks",
        NAMED="for ranks",
    )
    out, err = job.communicate(timeout=300)
    assert job.returncode == 1
    assert sorted(out.splitlines()) == [f"[{rank}] rank {rank} token None named for ranks" for rank in (0, 1)]
    last = err.splitlines()[-2:]
    assert last[0] == "ValueError: boom"
    assert all(f"[{rank}]  50%" in err for rank in (0, 1)) and "<std" not in err
    assert "rank 1 on" in last[1] and last[1].endswith("failed first: exit code 1")
    assert "ValueError: boom" in (folder / "logs" / "rank.1.log").read_text()
    log = (folder / "logs" / "rank.0.log").read_bytes()
    # Two pipes: which of them is read first is nobody's choice.
    assert b"\r 50%" in log and b"rank 0 token None named for ranks\n" in log


@pytest.mark.launch
def test_modules_of_the_folder_are_not_the_shims(folder: Path) -> None:
    """What hvdkit runs around each rank imports Python's own modules, and the script starts."""
    for name in ("json", "socket", "subprocess", "tempfile", "runpy"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('{name} of the folder was imported')\n")
    hvdkit = str(Path(sys.executable).with_name("hvdkit"))
    command = [hvdkit, "run", "-np", "2", "--gloo", "--no-watch", "python", "train.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "of the folder" not in done.stdout + done.stderr, done.stderr
    assert sorted(re.findall("rank ([01]) token", done.stdout)) == ["0", "1"]


UNEVEN = """\
import time, torch
import horovod.torch as hvd
hvd.init()
for step in range(4 - hvd.rank()):
    hvd.allreduce(torch.ones(1), name="loss")
hvd.shutdown()
time.sleep(600)
"""


@pytest.mark.launch
@pytest.mark.parametrize("controller", ["--gloo", "--mpi"])
def test_a_rank_that_was_well_is_not_blamed(folder: Path, controller: str) -> None:
    """Rank 1 has a step less, ends its training and goes on with work of its own; rank 0 fails for that."""
    (folder / "train.py").write_text(UNEVEN)
    job = start("-np", "2", controller, "python", "train.py")
    _, err = job.communicate(timeout=300)
    assert job.returncode == 1
    said = [line for line in err.splitlines() if line.startswith("hvdkit: ")][-2:]
    assert "rank 0 on" in said[0] and said[0].endswith("failed first: exit code 1")
    assert "a different rank ended its training first" in said[1]
    assert not any("rank 1" in line and "failed first" in line for line in err.splitlines())


@pytest.mark.launch
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_leaves_no_rank(folder: Path, number: signal.Signals) -> None:
    job = start("-np", "2", "--gloo", "python", "train.py", "sleep")
    assert job.stdout is not None
    for _ in range(2):
        assert "token None" in job.stdout.readline()
    job.send_signal(number)
    assert job.wait(120) == 130
    deadline = time.monotonic() + 60
    while left(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left(folder) == []


def left(folder: Path) -> list[list[str]]:
    """Processes that run in the folder of the test."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.pid != os.getpid():
                found.append(process.cmdline())
        except psutil.Error:
            continue
    return found
