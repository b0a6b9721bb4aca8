"""Notebooks under `hvdkit run`: the cells as one program, and what stands for their magics."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hvdkit.errors import HvdkitError
from hvdkit.launch.notebook import as_command

# As people have them: options of their own in a cell, a magic, DDP in a main function.
CELLS = (
    "%matplotlib inline\nimport torch\nimport torch.distributed as dist\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    "from torch.utils.data import DataLoader, DistributedSampler, TensorDataset\n",
    'dist.init_process_group("gloo")\ntorch.manual_seed(0)\nmodel = DDP(torch.nn.Linear(4, 1))\n'
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n",
    "inputs = torch.arange(64.0).view(16, 4) / 64\n"
    "data = TensorDataset(inputs, inputs.sum(1, keepdim=True))\n"
    "sampler = DistributedSampler(data)\nloader = DataLoader(data, batch_size=2, sampler=sampler)\n",
    "for epoch in range(2):\n    sampler.set_epoch(epoch)\n    for batch, targets in loader:\n"
    "        optimizer.zero_grad()\n        loss = (model(batch) - targets).square().mean()\n"
    "        loss.backward()\n        optimizer.step()\n",
    'if dist.get_rank() == 0:\n    print(f"loss {loss.item():.4f}", flush=True)\n',
    "dist.destroy_process_group()\n",
)


def notebook(path: Path, *cells: str) -> Path:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def said_of(path: Path, force: bool = False) -> list[str]:
    said: list[str] = []
    as_command([str(path)], said.append, force)
    return said


def test_a_script_is_no_notebook() -> None:
    assert as_command(["python", "train.py", "x.ipynb"], print, False) == ["python", "train.py", "x.ipynb"]


def test_magics_that_show_or_time_are_left_out_without_a_word(tmp_path: Path) -> None:
    cells = ("%matplotlib inline\n%load_ext autoreload\n!nvidia-smi\nmodel?\n", "%%time\nx = 1\n")
    assert said_of(notebook(tmp_path / "train.ipynb", *cells)) == []


def test_magics_that_install_are_answered(tmp_path: Path) -> None:
    path = notebook(tmp_path / "train.ipynb", "!pip install timm==1.0\n")
    assert said_of(path) == [
        f"{path}, cell 1: !pip install timm==1.0: left out; on every host: pip install timm==1.0"
    ]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("%env MODE=fast", "-x MODE=fast gives it to every rank"),
        ("%cd data", "write it in Python"),
        ("files = !ls", "write it in Python"),
        ("!ls > files.txt", "write it in Python"),
        ("!rm -rf old", "write it in Python"),
        ("%run helpers.py", "write it in Python"),
    ],
)
def test_magics_that_the_program_needs_are_refused(tmp_path: Path, line: str, answer: str) -> None:
    path = notebook(tmp_path / "train.ipynb", "x = 1\n", f"{line}\n")
    with pytest.raises(HvdkitError, match=re.escape(f"cell 2: {line}: {answer}")):
        said_of(path)
    assert said_of(path, force=True) == []


def test_what_is_no_notebook_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.ipynb").write_text("{}")
    with pytest.raises(HvdkitError, match="no cells"):
        said_of(tmp_path / "train.ipynb")


def test_it_runs_as_the_main_module_with_its_arguments(tmp_path: Path) -> None:
    cells = (
        'import sys\nprint(__name__, "__file__" in globals(), sys.argv[1:], "re" in globals())\n',
        "class Local: pass\nimport pickle\nprint(type(pickle.loads(pickle.dumps(Local()))) is Local)\n",
        'display(3)\nraise ValueError("boom")\n',
    )
    path = notebook(tmp_path / "train.ipynb", *cells)
    command = [sys.executable, "-m", "hvdkit.launch.notebook", str(path), "--lr", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["__main__ False ['--lr', '1'] False", "True", "3"]
    assert done.stderr.splitlines()[-3:-1] == [
        f'  File "{path}, cell 3", line 2, in <module>',
        '    raise ValueError("boom")',
    ]


@pytest.mark.launch
@pytest.mark.timeout(1800)
def test_a_notebook_goes_the_whole_way_by_the_printed_commands(tmp_path: Path) -> None:
    """Migrated, verified and run, with nothing typed but what was printed."""
    notebook(tmp_path / "train.ipynb", *CELLS)
    original = tmp_path / "original.ipynb"

    def run(command: str, code: int = 0) -> str:
        words = shlex.split(command.replace("-np N", "-np 2"))
        assert words[0] == "hvdkit"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    original.write_bytes((tmp_path / "train.ipynb").read_bytes())
    said = run("hvdkit migrate train.ipynb --write --allow-no-vcs")
    run("hvdkit verify original.ipynb train.ipynb")
    (start,) = re.findall(r"start `(.*?)`", said)
    losses = run(start)
    as_it_was = run("hvdkit run --torch -np N original.ipynb")
    assert re.fullmatch(r"\[0\] loss \d\.\d{4}\n", losses) and losses == as_it_was
