"""HVDKIT_CHECK_SYNC and the watch of `hvdkit run` in TensorFlow: what diverges is stopped, nothing else."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from patience import run_while_it_speaks

pytestmark = [
    pytest.mark.launch,
    pytest.mark.once,
    pytest.mark.timeout(0),
]  # run_while_it_speaks has a bound of its own

HERE = Path(__file__).parent
# A script that never heard of hvdkit.
UNEDITED = """\
import sys
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

hvd.init()
tf.keras.utils.set_random_seed(hvd.rank())
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    gradients = [hvd.allreduce(each) for each in tape.gradient(loss, model.trainable_variables)]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for number in range(int(sys.argv[2])):
    step(tf.random.normal((8, 4)))
    if number == 0 and sys.argv[1] == "right":
        plain = [each.value if hasattr(each, "path") else each for each in model.variables]
        hvd.broadcast_variables(plain, 0)
print("finished", hvd.rank(), "hvdkit.watch.tensorflow" in sys.modules, flush=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(UNEDITED)
    return path


def test_every_cause_is_named_on_every_rank() -> None:
    launch = [str(Path(sys.executable).with_name("horovodrun")), "-np", "2", "-H", "localhost:2", "--gloo"]
    job = run_while_it_speaks(
        [*launch, sys.executable, str(HERE / "sync" / "program.py")],
        environment={**os.environ, "HVDKIT_CHECK_SYNC": "1"},
    )
    assert job.returncode == 0, job.stdout + job.stderr
    named = re.findall(r"(\w+) rank (\d): (.+)", job.stdout)
    assert len(named) == 2 * 13
    for name, _, cause in named:
        expected = name.partition("__")[0]
        assert cause.strip() == ("none" if expected == "healthy" else expected), name


def watched(script: Path, how: str, steps: int) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "hvdkit", "run", "-np", "2", "--gloo", sys.executable, str(script)]
    job = run_while_it_speaks([*command, how, str(steps)], environment=dict(os.environ))
    return job.returncode, job.stdout, job.stderr


def test_the_watch_ends_a_job_that_has_parted(script: Path) -> None:
    """It would train for hours."""
    code, out, err = watched(script, "parted", 10_000_000)
    assert code == 1 and "finished" not in out, err
    assert "hvdkit: the ranks have diverged, and the job was stopped: after step 1 of SGD: " in err
    assert "why: nothing is broadcast: each rank starts from different weights" in err


def test_the_watch_leaves_a_right_job_alone(script: Path) -> None:
    code, out, err = watched(script, "right", 200)
    assert code == 0, err
    assert out.count("True") == 2 and "diverged" not in err
