"""Scripts that fit with a plain optimizer: refused in a job that has reduced nothing; all else runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import run_while_it_speaks

PROGRAM = """\
import sys
import numpy as np
import hvdkit.keras as hvd
from hvdkit.keras.backend import keras

hvd.init()
x, y = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")

def network():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])

model = network()
model.predict(x, verbose=0)
model.compile(loss="mse")
model.evaluate(x, y, verbose=0)
model.compile("sgd", "mse")
model.evaluate(x, y, verbose=0)
path = f"{sys.argv[1]}/model-{hvd.rank()}.keras"
model.save(path)
keras.models.load_model(path).predict(x, verbose=0)
print("not refused", hvd.rank(), flush=True)
if sys.argv[2] == "loaded":
    model = keras.models.load_model(path)
model.fit(x, y, verbose=0)
print("fitted", hvd.rank(), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.launch
@pytest.mark.timeout(0)  # run_while_it_speaks has a bound of its own
@pytest.mark.parametrize("how", ["compiled", "loaded"])
def test_a_fit_that_reduces_nothing(program: Path, how: str) -> None:
    launch = [str(Path(sys.executable).with_name("horovodrun")), "-np", "2", "-H", "localhost:2", "--gloo"]
    command = [*launch, sys.executable, str(program), str(program.parent), how]
    job = run_while_it_speaks(command, environment=dict(os.environ))
    assert job.returncode != 0 and "fitted" not in job.stdout
    assert job.stdout.count("not refused") == 2, job.stderr
    assert "UnreducedTrainingError: the model is trained by no DistributedOptimizer (SGD)" in job.stderr
    assert "hvd.load_model(path)" in job.stderr


@pytest.mark.launch
def test_one_process_is_no_job(program: Path) -> None:
    command = [sys.executable, str(program), str(program.parent), "loaded"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines() == ["not refused 0", "fitted 0"], result.stderr
