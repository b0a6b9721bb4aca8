"""`hvdkit init` names what a folder holds and what to type next."""

from __future__ import annotations

import json
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


def folder(tmp_path: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return tmp_path


def test_a_ddp_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, train_py=DDP, run_sh="torchrun --nproc-per-node 4 train.py\n", notes_py="import os\n")
    assert main(["init", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "scripts    train.py\n" in out and "framework  PyTorch\n" in out and "launcher   torchrun\n" in out
    assert "  hvdkit migrate train.py " in out and "used by 0 of 1 scripts" in out


def test_a_horovod_script_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, train_py="import horovod.torch as hvd\n" + DDP)
    assert main(["init", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["next"][0] == "hvdkit check train.py" and said["found"]["uses_horovod"] == ["train.py"]


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
