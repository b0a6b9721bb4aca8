"""Every command in the examples' READMEs runs, on less work, and prints its last epoch once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from patience import run_while_it_speaks
from readmes import EXAMPLES, TENSORFLOW, commands, environment, is_training

READMES = sorted({path.parent.name for path in EXAMPLES.glob("*/README.md")} - TENSORFLOW)
SWAV = "--queue-from 0 --batch-size 256 --small 1 --sizes 12 8 --hidden 32 --epochs"
# Appended to each training command: argparse takes the last value that it is given.
LESS = {
    "gan": "--epochs 2 --width 4",
    "mnist": "--epochs 1",
    "quickstart": "",
    "segmentation": "--epochs 2 --width 4 --batch-size 64",
    "single_gpu": "--epochs 2",
    "swav": f"{SWAV} 1",
}
# The same for the script that a verify command runs, for two steps.
SMALLER = {"gan": "--width 4", "segmentation": "--width 4", "swav": "--small 1 --sizes 12 8 --hidden 32"}
# Where one run leaves something to do for the next.
MORE = {
    "python train.py --epochs 40 --resume": "--epochs 3",
    "horovodrun -np 2 -H localhost:2 python train_ddp_horovod.py --save run2 --epochs 16": f"{SWAV} 2",
}
PRINTED = {
    "mnist": r"test accuracy [\d.]+%",
    "quickstart": r"epoch 2: loss [\d.]+",
    "gan": r"epoch 2: discriminator [\d.]+ generator [\d.]+ distance [\d.]+",
    "segmentation": r"epoch 2: mIoU [\d.]+%",
    "single_gpu": r"epoch [12]: loss [\d.]+ test accuracy 0\.[89]\d+",
    "swav": r"after epoch [01]: nearest neighbours [\d.]+%",
}


def is_plot(command: str) -> bool:
    return command.startswith("python ../plot.py ")


def plotted(command: str) -> list[str]:
    """The training commands that a plot runs, and shows."""
    return re.findall(r'"([^"]+)"', command) if is_plot(command) else []


def with_less_work(command: str, example: str) -> str:
    """The command as the README has it, on less work; a plot gets that in both of its commands."""
    less = MORE.get(command, LESS[example])
    if is_plot(command):
        return re.sub(r'"([^"]+)"', rf'"\1 {less}"', command)
    if command.startswith("hvdkit verify "):
        short = command.replace(" verify ", " verify --steps 2 ")
        smaller = SMALLER.get(example)
        return f"{short}{'' if ' -- ' in command else ' --'} {smaller}" if smaller else short
    return f"{command} {less}" if is_training(command) else command


def test_every_readme_has_its_commands() -> None:
    assert set(LESS) == set(PRINTED) == set(READMES)
    for example in READMES:
        kinds = {command.split()[0] for command in commands(example)}
        assert {"hvdkit", "horovodrun"} < kinds, example


@pytest.mark.launch
@pytest.mark.timeout(0)  # each command has its own bound
@pytest.mark.parametrize("example", READMES)
def test_the_commands_run(example: str, tmp_path: Path) -> None:
    """In the order of the README, in a copy of the folder: what one writes, the next finds. What a plot runs
    again is run by it alone.
    """
    folder = tmp_path / example
    shutil.copytree(EXAMPLES / example, folder, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    shutil.copy(EXAMPLES / "plot.py", tmp_path)
    again = {each for command in commands(example) for each in plotted(command)}
    for command in commands(example):
        if command in again:
            continue
        line = with_less_work(command, example)
        done = run_while_it_speaks(["bash", "-c", line], folder=folder, environment=environment())
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        trained = int(is_training(command)) or len(plotted(command))
        assert not trained or len(re.findall(PRINTED[example], done.stdout)) == trained, (
            f"{line}\n{done.stdout}"
        )
        if "verify" in command:
            assert re.search(r"^agree: bit for bit, \d+ steps", done.stdout, re.M), done.stdout
        elif is_plot(command):
            assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG"), done.stdout
