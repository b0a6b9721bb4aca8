"""One Horovod script without an original, from a file or a notebook."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.verify.scale import NAME
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify_alone

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The migrated script of the single-process fixture, in the current folder and without its original."""
    shutil.copy(FIXTURES / "single" / "migrated.py", tmp_path / "train.py")
    monkeypatch.chdir(tmp_path)
    return Path("train.py")


def refused(capsys, *arguments: str) -> str:
    assert main(["verify", *arguments]) == 2
    return capsys.readouterr().err


def test_a_script_without_horovod(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import torch\n")
    said = refused(capsys, "train.py")
    assert "train.py does not import Horovod" in said
    assert "hvdkit verify train.py MIGRATED" in said


def test_one_rank_shows_nothing(script, capsys):
    assert "fix: --np 2" in refused(capsys, str(script), "--np", "1")


@pytest.mark.launch
def test_a_right_notebook(script):
    text = script.read_text()
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text}]
    Path("train.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    command = [sys.executable, "-m", "hvdkit", "verify", "train.ipynb", "--steps", "9", "--json=r.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(Path("r.json").read_text())
    assert result["holds"] and result["ranks"] == 2 and result["steps"] == {"0": 9, "1": 9}
    names = [invariant["name"] for invariant in result["invariants"]]
    assert "together they train on all samples" in names
    assert not any("original" in name for name in names)
    assert done.stdout.rstrip().endswith(result["verdict"])
    assert sorted(path.name for path in Path().iterdir()) == ["r.json", "train.ipynb", "train.py"]


@pytest.mark.launch
def test_a_wrong_script(script):
    """Not broadcast, the local rank as the rank (both ranks read the same share and write the file), the loss
    divided by the ranks, and no set_epoch."""
    text = script.read_text()
    for old, new in [
        ("hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n", ""),
        ("hvd.rank()", "hvd.local_rank()"),
        ("F.cross_entropy(model(batch), labels).", "(F.cross_entropy(model(batch), labels) / hvd.size())."),
        ("    sampler.set_epoch(epoch)\n", ""),
    ]:
        assert old in text
        text = text.replace(old, new)
    script.write_text(text)
    result = verify_alone(Request(script, script, steps=9), lambda line: print(line, file=sys.stderr))
    failed = {invariant.name for invariant in result.invariants if not invariant.holds}
    assert {
        "all ranks hold the same parameters after each step",
        "ranks train on different samples",
        "each file has one writer",
        "each epoch has a different order",
        NAME,
        "ranks compute the same on one host as on two",
    } <= failed
