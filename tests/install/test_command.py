"""The command as a person runs it. What compiles or installs is in test_build.py."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hvdkit.install import build, cache, command, installed, proof
from hvdkit.install.errors import ProofError
from tests.install import plans
from tests.install.test_system import path_without


def hvdkit(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hvdkit", "install-horovod", *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_dry_run_shows_every_choice_and_changes_nothing(tmp_path: Path) -> None:
    done = hvdkit("--dry-run", HVDKIT_CACHE=str(tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    for part in ("torch ", "C++", "HOROVOD_WITH_PYTORCH=1", "CMAKE_PROJECT_INCLUDE", "--no-build-isolation"):
        assert part in done.stdout
    assert "cached wheel: none" in done.stdout
    assert not (tmp_path / "store").exists()


def test_dry_run_for_a_machine(tmp_path: Path) -> None:
    facts = json.loads(hvdkit("--dry-run", "--json", HVDKIT_CACHE=str(tmp_path)).stdout)
    assert facts["horovod"] == "0.28.1"
    assert len(facts["key"]) == 16
    assert facts["standard"] == max(demand["standard"] for demand in facts["demands"])


def test_a_variable_that_is_not_followed_is_named(tmp_path: Path) -> None:
    settings = {"HOROVOD_WITHOUT_GLOO": "1", "HVDKIT_CACHE": str(tmp_path)}
    assert "HOROVOD_WITHOUT_GLOO=1: Gloo is always built" in hvdkit("--dry-run", **settings).stdout
    answer = json.loads(hvdkit("--dry-run", "--json", **settings).stdout)
    assert list(answer["ignored"]) == ["HOROVOD_WITHOUT_GLOO=1"]


def test_check() -> None:
    done = hvdkit("--check")
    assert (done.returncode, done.stdout) == (0, "Horovod 0.28.1 fits this environment\n")


def test_check_finds_a_broken_horovod(tmp_path: Path) -> None:
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "__init__.py").write_text("raise ImportError('no')")
    done = hvdkit("--check", "--json", PYTHONPATH=os.pathsep.join([str(tmp_path), str(Path.cwd())]))
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert not answer["fits"]
    assert "horovod.torch" in answer["reasons"][0]


def test_missing_tools_are_one_message(tmp_path: Path) -> None:
    environment = path_without(tmp_path, "cmake", "mpicxx")
    done = hvdkit("--json", PATH=environment["PATH"])
    assert done.returncode == 2
    assert "not found: cmake, mpicxx" in done.stderr
    assert "apt-get install cmake libopenmpi-dev" in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["result"], answer["seen"]) == ("failed", "not found: cmake, mpicxx")


def test_a_framework_that_does_not_import(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import nothing_of_that_name")
    done = hvdkit("--check", PYTHONPATH=os.pathsep.join([str(tmp_path), str(Path.cwd())]))
    assert done.returncode == 2
    assert "`import torch` fails: ModuleNotFoundError: No module named 'nothing_of_that_name'" in done.stderr


@pytest.mark.parametrize("pair", [("--check", "--rebuild"), ("--check", "--dry-run")])
def test_one_thing_at_a_time(pair: tuple[str, str]) -> None:
    assert hvdkit(*pair).returncode == 2


def test_a_wheel_that_is_not_proven_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuted(*_: object) -> Iterator[proof.Step]:
        yield proof.Step("import horovod.torch", 1.0)
        raise ProofError("allreduce on 2 ranks: rank 0 of 1", "the installed Horovod cannot be used")

    made = plans.make((plans.TORCH,))
    wheel = tmp_path / "horovod-0.28.1-cp311-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"compiled")
    entry = cache.put(tmp_path, made.key, wheel, {})
    monkeypatch.setattr(build, "pip", lambda *_: None)
    monkeypatch.setattr(installed, "wheel_digest", lambda: entry.sha256)
    monkeypatch.setattr(proof, "prove", refuted)
    with pytest.raises(ProofError):
        command._install(made, tmp_path, {}, argparse.Namespace(rebuild=False, wheel_dir=None))
    assert cache.find(tmp_path, made.key) is None
