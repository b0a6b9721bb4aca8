"""`hvdkit init` names what a folder holds and what to type next."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.start.folder import look

DDP = """\
import torch
import torch.distributed as dist

def main(model, loader):
    for x in loader:
        model(x).sum().backward()

if __name__ == "__main__":
    main()
"""


SINGLE = """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(8, 4).split(2):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""


def folder(tmp_path: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return tmp_path


def test_a_ddp_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, train_py=DDP, run_sh="torchrun --nproc-per-node 4 train.py\n", notes_py="import os\n")
    assert main(["init", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "scripts    train.py\n" in out and "framework  PyTorch\n" in out and "launcher   torchrun\n" in out
    assert "  hvdkit migrate " in out and "used by 0 of 1 scripts" in out


def test_a_horovod_script_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, train_py="import horovod.torch as hvd\n" + DDP)
    assert main(["init", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["next"][0].startswith("hvdkit check ") and said["found"]["uses_horovod"] == ["train.py"]


def test_nothing_to_migrate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, tool_py="print(1)\n", broken_py="def (:\n    x.backward()\n")
    assert main(["init", str(tmp_path)]) == 1
    assert "no script here trains" in capsys.readouterr().out


def test_no_such_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_a_script_with_a_main_guard_comes_first(tmp_path: Path) -> None:
    folder(tmp_path, a_py=DDP.partition("if __name__")[0], z_py=DDP)
    assert [script.name for script in look(tmp_path).scripts] == ["z.py", "a.py"]


@pytest.mark.parametrize("place", ["none", "clean", "changed", "a folder above"])
def test_each_line_that_writes_can_be_typed_as_it_is(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "my project"
    project.mkdir()
    folder(project, train_py=SINGLE)
    if place != "none":
        git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "first"], check=True)
    if place == "changed":
        (project / "notes.txt").write_text("mine")
    monkeypatch.chdir(project.parent if place == "a folder above" else project)
    assert main(["init", os.path.relpath(project)]) == 0
    lines = [line.partition(" # ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    (verify,) = (line for line in lines if line.endswith("--verify"))
    (write,) = (line for line in lines if "--write" in line)
    assert shlex.split(verify)[:3] == shlex.split(write)[:3]
    assert main(shlex.split(write)[1:]) in (0, 1)  # 1: something is left to the author
    assert "horovod" in (project / "train.py").read_text()


def test_a_missing_framework_is_installed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hvdkit.start.folder.find_spec", lambda name: None)
    monkeypatch.setattr("hvdkit.start.folder._installed", lambda name: "")
    folder(tmp_path, train_py="import tensorflow as tf\nmodel.fit(x)\n")
    assert main(["init", str(tmp_path), "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["next"]
    assert steps[1:3] == ["python -m pip install tensorflow", "hvdkit install-horovod"]
