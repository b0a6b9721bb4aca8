"""The Keras and tape scripts of examples/mnist learn the digits, before their migration and after it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import keras
import pytest
from warm import forked

from hvdkit.launch.horovodrun import UNCHECKED

MNIST = Path(__file__).parents[2] / "examples" / "mnist"
MIGRATED = ("_horovod", "_hvdkit")
SCRIPTS = sorted(path.stem for path in MNIST.glob("keras_*.py"))
KERAS_3 = keras.__version__.startswith("3")

pytestmark = pytest.mark.launch


def accuracy(command: list[str], folder: Path) -> list[float]:
    """What each process printed last, in percent."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }
    command = forked(command, environment, "tensorflow")
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return [float(found) for found in re.findall(r"test accuracy ([\d.]+)%", done.stdout)]


def is_migrated(script: str) -> bool:
    return script.endswith(MIGRATED)


@pytest.mark.parametrize("script", [script for script in SCRIPTS if not is_migrated(script)])
def test_the_original_learns_the_digits(script: str, tmp_path: Path) -> None:
    assert accuracy([sys.executable, str(MNIST / f"{script}.py")], tmp_path)[-1] >= 95


# Plain Horovod reduces nothing under Keras 3: what migrate makes for it is for Keras 2.
@pytest.mark.parametrize(
    "script",
    [script for script in SCRIPTS if is_migrated(script) and not (KERAS_3 and script.endswith("_horovod"))],
)
def test_the_migration_learns_the_digits_on_two_ranks(script: str, tmp_path: Path) -> None:
    """And says so once: all of them print on rank 0 alone."""
    job = [*UNCHECKED, "-np", "2", "--gloo", sys.executable, str(MNIST / f"{script}.py")]
    printed = accuracy(job, tmp_path)
    assert printed[-1] >= 95
    assert len(printed) == (8 if "tape" in script else 1)
