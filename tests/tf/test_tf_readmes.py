"""Every command in the READMEs of TensorFlow's examples runs, on less work, and prints its last line once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from patience import run_while_it_speaks
from readmes import EXAMPLES, TENSORFLOW, commands, environment, is_training

PRINTED = {
    "keras_gan": r"after epoch 2: distance [\d.]+",
    "tfrecord": r"test accuracy [89]\d\.\d\d%",
}
LESS = {"keras_gan": "--epochs 2", "tfrecord": "--epochs 8"}


@pytest.mark.launch
@pytest.mark.once
@pytest.mark.timeout(0)  # each command has its own bound
@pytest.mark.parametrize("example", sorted(TENSORFLOW))
def test_the_commands_run(example: str, tmp_path: Path) -> None:
    """In the order of the README, in a copy of the folder: what one writes, the next finds."""
    folder = tmp_path / example
    shutil.copytree(EXAMPLES / example, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for command in commands(example):
        line = f"{command} {LESS[example]}" if is_training(command) else command
        done = run_while_it_speaks(["bash", "-c", line], folder=folder, environment=environment())
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        if is_training(command):
            assert len(re.findall(PRINTED[example], done.stdout)) == 1, f"{line}\n{done.stdout}"
        if "verify" in command:
            assert re.search(r"^agree: bit for bit, \d+ steps", done.stdout, re.M), done.stdout
