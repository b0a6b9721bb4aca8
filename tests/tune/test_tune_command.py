"""hvdkit tune, and hvdkit run --tuned: what is refused, what is written and read, what ranks are given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.bench import job
from hvdkit.cli import main
from hvdkit.examination.session import Report
from hvdkit.hosts.lists import Host, HostList
from hvdkit.hosts.ssh import Ssh
from hvdkit.launch.tuned import Setting, TunedError, read, written
from hvdkit.tune import command
from hvdkit.tune.space import changes, named
from tests.bench.records import record

# What a step takes, by what is in a setting: a cycle of 5 ms gains most, no cache gains on top of it.
FACTORS = {"gloo": 2.0, "HOROVOD_CYCLE_TIME=5": 0.7, "HOROVOD_CACHE_CAPACITY=0": 0.9, "THRESHOLD=0": 1.5}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["no-such-model"], "neither a model"),
        (["mlp", "--", "--lr", "1"], "mlp has no arguments"),
        (["mlp", "--minutes", "0"], "--minutes 0"),
        (["mlp", "-np", "1"], "one rank exchanges nothing"),
    ],
)
def test_bad_input(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *arguments]) == 2
    assert part in capsys.readouterr().err


def test_what_is_written_is_read(tmp_path: Path) -> None:
    setting = Setting("mpi", False, {"OMP_NUM_THREADS": "2", "HOROVOD_CYCLE_TIME": "0.5"})
    file = tmp_path / "tune.toml"
    file.write_text(written(setting, ["remark"]))
    assert read(file) == setting
    file.write_text(written(Setting(), []))
    assert read(file) == Setting()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('[variables]\nLD_PRELOAD = "x.so"', "'LD_PRELOAD' is not read from it"),
        ('contoller = "mpi"', "did you mean controller?"),
        ('controller = "tcp"', "'tcp'"),
        ("yield_when_idle = 1", "yield_when_idle = 1"),
        ("variables = 1", "variables is no table"),
        ("[variables]\nOMP_NUM_THREADS = 2", "is no text"),
        ("[", "is not TOML"),
    ],
)
def test_files_that_are_refused(text: str, part: str, tmp_path: Path) -> None:
    file = tmp_path / "tune.toml"
    file.write_text(text)
    with pytest.raises(TunedError, match=re.escape(part)):
        read(file)


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tuned", "none.toml", "python", "train.py"]) == 2
    assert "cannot read none.toml" in capsys.readouterr().err


def test_only_horovods_jobs_are_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--torch", "--tuned", "none.toml", "python", "train.py"]) == 2
    assert "--torch with --tuned" in capsys.readouterr().err


def test_the_search_adds_what_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: job.Ground, kind: str, steps: int, what: list[str], setting: Setting) -> object:
        seconds = 0.1
        for part, factor in FACTORS.items():
            seconds *= factor if part in named(setting).name else 1
        return record([[seconds] * 9] * 2)

    usual = named(Setting("mpi", True, {"OMP_NUM_THREADS": "1"}))
    monkeypatch.setattr(job, "run", run)
    monkeypatch.setattr("hvdkit.tune.space.usual", lambda _: usual)
    monkeypatch.setattr("hvdkit.tune.space.starts", lambda _: [named(Setting("gloo")), usual])
    ground = job.Ground(HostList((Host("localhost", 2),)), 2, Ssh(), Report((), {}, None, ()))
    first, best, tried = command.search(ground, ["mlp"], float("inf"))
    assert first == usual
    assert best.setting.variables == {
        "OMP_NUM_THREADS": "1",
        "HOROVOD_CYCLE_TIME": "5",
        "HOROVOD_CACHE_CAPACITY": "0",
    }
    gained = {each.candidate.name.split()[-1]: round(each.ratio.middle, 3) for each in tried if each.gains}
    assert gained == {"HOROVOD_CYCLE_TIME=5": 0.7, "HOROVOD_CACHE_CAPACITY=0": 0.9}


def test_a_job_that_fails_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = named(Setting("mpi"))

    def run(_: job.Ground, kind: str, steps: int, what: list[str], setting: Setting) -> object:
        if setting.controller == "gloo":
            raise job.MeasuredJobError("rank 1 on b failed")
        return record([[0.1] * 9] * 2)

    monkeypatch.setattr(job, "run", run)
    monkeypatch.setattr("hvdkit.tune.space.usual", lambda _: usual)
    monkeypatch.setattr("hvdkit.tune.space.starts", lambda _: [named(Setting("gloo"))])
    ground = job.Ground(HostList((Host("localhost", 2),)), 2, Ssh(), Report((), {}, None, ()))
    first, best, tried = command.search(ground, ["mlp"], float("inf"))
    assert best == first
    command.show(command.data("mlp", first, best, tried, Path("tune.toml")))
    printed = capsys.readouterr()
    assert "gloo: left out, its job failed: rank 1 on b failed" in printed.err
    assert "failed" in printed.out and "nothing gains more than the noise" in printed.out


def test_gpus_have_settings_of_their_own() -> None:
    usual = named(Setting("mpi"))
    names = [each.name for each in changes(usual, on_gpu=True)]
    assert any("HIERARCHICAL" in name for name in names)
    assert not any("HIERARCHICAL" in each.name for each in changes(usual, on_gpu=False))


@pytest.mark.launch
def test_a_short_search_and_a_job_with_its_file(tmp_path: Path) -> None:
    def hvdkit(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hvdkit", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    tuned = hvdkit("tune", "mlp", "-np", "2", "--minutes", "0.2", "--json")
    assert tuned.returncode == 0, tuned.stderr
    assert json.loads(tuned.stdout)["output"] == "hvdkit-tune.toml"
    assert "ms a step: " in tuned.stderr
    (tmp_path / "train.py").write_text(
        "import os\nprint(os.environ['OMP_NUM_THREADS'], os.environ['HOROVOD_CYCLE_TIME'])\n"
        "print('mpi' if 'OMPI_COMM_WORLD_RANK' in os.environ else 'gloo')\n"
        "print(os.environ.get('OMPI_MCA_mpi_yield_when_idle'))\n"
    )
    setting = Setting("mpi", False, {"OMP_NUM_THREADS": "3", "HOROVOD_CYCLE_TIME": "4"})
    (tmp_path / "other.toml").write_text(written(setting, []))
    run = hvdkit(
        "run", "-np", "1", "--tuned", "other.toml", "-x", "HOROVOD_CYCLE_TIME=7", "python", "train.py"
    )
    # What is typed is stronger than the file.
    assert run.stdout.splitlines()[:2] == ["[0] 3 7", "[0] mpi"], run.stderr
    run = hvdkit("run", "-np", "1", "--gloo", "--tuned", "other.toml", "python", "train.py")
    assert run.stdout.splitlines()[:2] == ["[0] 3 4", "[0] gloo"], run.stderr
