"""`hvdkit migrate --verify`: what agrees is written; what differs or cannot run leaves all as it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hvdkit.cli import main

FIXTURES = Path(__file__).parent.parent / "verify" / "fixtures"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script with a helper module, in the current folder."""
    for name in ("original.py", "helper.py"):
        shutil.copy(FIXTURES / "convnet" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["migrate", *arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.launch
def test_what_agrees_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(project)
    command = ["migrate", "original.py", "--verify", "--write", "--allow-no-vcs", "--steps", "2"]
    assert main([*command, "--json=plan.json"]) == 0
    assert "agree: bit for bit, 2 steps on 2 ranks" in capsys.readouterr().out
    after = contents(project)
    assert after["original.py"] != before["original.py"] and after["helper.py"] != before["helper.py"]
    assert json.loads(after["plan.json"])["verification"]["identical"] is True


@pytest.mark.launch
def test_what_differs_is_not_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(project)
    command = ["migrate", "original.py", "--verify", "--write", "--allow-no-vcs", "--steps", "1"]
    assert main([*command, "--ignore", "HVD404"]) == 1
    said = capsys.readouterr()
    assert "clipped while Horovod still reduces" in said.out and "nothing was written" in said.err
    assert contents(project) == before


@pytest.mark.launch
def test_a_script_that_cannot_run_shows_its_own_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = project / "original.py"
    needed = "import sys\ndata = open(sys.argv[1])\n"
    script.write_text(needed + script.read_text())
    before = contents(project)
    said = refused(capsys, "original.py", "--verify", "--output", "new", "--", "no-such-data.csv")
    assert "the original script ended" in said and "No such file or directory: 'no-such-data.csv'" in said
    assert contents(project) == before and not (project / "new").exists()


def test_a_folder_names_no_script(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, str(project), "--verify")
    assert "--verify runs one script" in said and "--verify, the script first" in said


def test_a_script_of_another_folder(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "is outside the current folder" in refused(capsys, str(project / "original.py"), "--verify")


def test_what_stays_without_horovod_is_not_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tool.py").write_text("import torch\nprint(torch.__version__)\n")
    said = refused(capsys, "tool.py", "original.py", "--verify")
    assert "tool.py does not use Horovod after the rewrite" in said and "nothing was written" in said


def test_nothing_rewritten_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "original.py", "--verify", "--select", "HVD302"]) == 1
    assert "nothing is rewritten, so there is nothing to run" in capsys.readouterr().err


def test_arguments_for_a_script_that_nothing_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "add --verify" in refused(capsys, "original.py", "--", "--epochs", "1")
    assert "leave one of them out" in refused(capsys, "original.py", "--verify", "--check")
