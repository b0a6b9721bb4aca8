"""docs/guides.md: each guide's commands, on a script of the examples, print what the page shows."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "guides.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
GUIDES = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
JOB = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
srun torchrun --nnodes 2 --nproc_per_node 4 train.py
"""
# What each guide starts from: the files, and where they are from.
MNIST = {name: f"mnist/{name}" for name in ("data.py", "digits.py")}
FILES = {
    "A script with DistributedDataParallel": {"train.py": "mnist/train_ddp.py", **MNIST},
    "A script for one GPU": {"train.py": "single_gpu/train.py"},
    "A Keras script": {"train.py": "mnist/keras_fit.py", **MNIST},
    "A notebook": {},
    "A job on Slurm": {"train.py": "mnist/train_ddp.py", **MNIST},
    "A job on Kubernetes": {"train.py": "mnist/train_ddp.py", **MNIST},
}
# TensorFlow is not where these tests run.
NOT_HERE = {"hvdkit run -np 2 python train.py"}


def commands(guide: str) -> list[tuple[str, list[str]]]:
    """Each command of a guide, with the lines that it shows of the output."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", GUIDES[guide], re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


STARTS_RANKS = [
    guide
    for guide in FILES
    if any(command.startswith("hvdkit run ") and command not in NOT_HERE for command, _ in commands(guide))
]


def start(guide: str, folder: Path) -> None:
    """The project of a guide, committed."""
    for name, source in FILES[guide].items():
        shutil.copy(EXAMPLES / source, folder / name)
    if guide == "A notebook":
        script = TUTORIAL.partition("```python\n")[2].partition("```")[0]
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": script}
        (folder / "train.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    if guide == "A job on Slurm":
        (folder / "job.sh").write_text(JOB)
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "before"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def follow(guide: str, folder: Path) -> int:
    """Type the commands of a guide; how many there were of hvdkit's."""
    start(guide, folder)
    typed = 0
    for command, shown in commands(guide):
        if not command.startswith("hvdkit ") or command in NOT_HERE:
            continue
        words = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for line in shown:
            assert line in done.stdout, f"{command}: no {line!r} in {done.stdout}"
        typed += 1
    return typed


def test_each_guide_is_tried() -> None:
    assert GUIDES.keys() == FILES.keys()
    assert len(STARTS_RANKS) == 3
    others = {command.split()[0] for guide in GUIDES for command, _ in commands(guide)}
    assert others == {"hvdkit", "docker", "kubectl"}


@pytest.mark.parametrize("guide", [guide for guide in FILES if guide not in STARTS_RANKS])
def test_a_guide(guide: str, tmp_path: Path) -> None:
    assert follow(guide, tmp_path) > 0


@pytest.mark.launch
@pytest.mark.parametrize("guide", STARTS_RANKS)
def test_a_guide_that_starts_ranks(guide: str, tmp_path: Path) -> None:
    assert follow(guide, tmp_path) > 1


def test_the_job_on_the_page_is_one(tmp_path: Path) -> None:
    """hvdkit reads the line that the guide puts into the job, and has nothing more to say of it."""
    guide = "A job on Slurm"
    start(guide, tmp_path)
    job = re.search(r"```bash\n(.*?)```", GUIDES[guide], re.DOTALL)
    assert job is not None
    assert job[1].splitlines()[:-1] == JOB.splitlines()[:-1]
    (tmp_path / "job.sh").write_text(job[1])
    subprocess.run(["bash", "-n", "job.sh"], cwd=tmp_path, check=True)
    words = [sys.executable, "-m", "hvdkit", "migrate", "."]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "job.sh" not in shown
