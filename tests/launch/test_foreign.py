"""Scripts of other launchers: refused before a rank starts, or named where one fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hvdkit.cli import main
from hvdkit.errors import UsageError
from hvdkit.launch.foreign import ForeignError, advice, refuse_foreign
from hvdkit.launch.program import command_of

DDP = "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
# As in many public repositories: without torchrun's variables it believes that it is alone.
ALONE = """\
import os
from torch import distributed
def init():
    if "RANK" not in os.environ and "SLURM_PROCID" not in os.environ:
        print("Not using distributed mode")
        return
    distributed.init_process_group(backend="nccl", init_method="env://")
"""
STRATEGY = "import tensorflow as tf\nstrategy = tf.distribute.MultiWorkerMirroredStrategy()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_of_torch_distributed_is_refused_with_both_ways(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.py").write_text(DDP)
    assert main(["run", "-np", "2", "python", "train.py", "--lr", "1"]) == 2
    said = capsys.readouterr().err
    assert "train.py uses torch.distributed, not Horovod (train.py:2)" in said
    assert (
        "fix: hvdkit migrate train.py --write; or unchanged: hvdkit run --torch ... python train.py" in said
    )


def test_a_strategy_of_tensorflow_is_refused(folder: Path) -> None:
    (folder / "train.py").write_text(STRATEGY)
    with pytest.raises(ForeignError, match="MultiWorkerMirroredStrategy") as refused:
        refuse_foreign("train.py", ["python", "train.py"])
    assert "hvdkit run --tensorflow ... python train.py" in refused.value.fix


def test_what_a_script_imports_is_read(folder: Path) -> None:
    (folder / "distributed_mode.py").write_text(ALONE)
    (folder / "train.py").write_text("import distributed_mode\ndistributed_mode.init()\n")
    with pytest.raises(ForeignError, match=r"distributed_mode.py:7"):
        refuse_foreign("train.py", ["python", "train.py"])
    (folder / "other.py").write_text("import torch\n")
    refuse_foreign("other.py", ["python", "other.py"])


def test_a_notebook_is_read(folder: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": DDP}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "train.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(ForeignError, match=r"uses torch\.distributed") as refused:
        refuse_foreign("train.ipynb", ["python", "-m", "hvdkit.launch.notebook", "train.ipynb"])
    assert refused.value.fix.endswith("hvdkit run --torch ... python train.ipynb")


@pytest.mark.parametrize(
    "text",
    [
        "import horovod.torch as hvd\n" + DDP,
        DDP + "backend = 'Horovod' if True else 'ddp'\n",
        "import os\nrank = os.environ['OMPI_COMM_WORLD_RANK']\n" + DDP,
        DDP.replace("gloo", "mpi"),
        "import torch.distributed as dist\nprint(dist.is_available())\n",
        "def broken(:\n",
    ],
)
def test_a_script_that_may_know_its_rank_is_started(folder: Path, text: str) -> None:
    (folder / "train.py").write_text(text)
    refuse_foreign("train.py", ["python", "train.py"])


def test_where_a_rank_fails_for_it_both_ways_are_named() -> None:
    """As of a library that reads torchrun's variables, which no look into the script finds."""
    error = "Traceback (most recent call last):\n  x\nKeyError: 'LOCAL_RANK'"
    assert advice(error, ["python", "train.py"]).endswith(
        "hvdkit migrate train.py --write; or unchanged: hvdkit run --torch ... python train.py"
    )
    assert advice(error, ["python", "-m", "train"]).endswith(": hvdkit run --torch ... python -m train")
    assert advice("Traceback (most recent call last):\n  x\nKeyError: 'label'", ["python"]) == ""


def test_a_script_is_started_with_python(folder: Path) -> None:
    (folder / "train.py").write_text("")
    says: list[str] = []
    assert command_of(["--", "train.py", "--lr"], says.append, False) == [sys.executable, "train.py", "--lr"]
    assert command_of(["./train.py"], says.append, False) == [sys.executable, "./train.py"]
    (folder / "train.py").chmod(0o755)
    assert command_of(["./train.py"], says.append, False) == ["./train.py"], "it says itself what runs it"
    with pytest.raises(UsageError, match="no such file"):
        command_of(["missing.py"], says.append, False)
