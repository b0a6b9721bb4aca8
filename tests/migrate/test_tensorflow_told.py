"""What the report says of a migrated TensorFlow program beside its edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, Reported, State

FIT = """\
import tensorflow as tf

for size in (1, 2):
    model = tf.keras.Sequential([tf.keras.layers.Dense(size)])
    model.compile("sgd", "mse")
    model.fit(x, y)
other = tf.keras.Sequential([tf.keras.layers.Dense(3)])
other.compile(tf.keras.optimizers.Adam(), "mse")
other.fit(x, y)
"""
HIDDEN = """\
import tensorflow as tf

class Model(tf.Module):
    def __call__(self, x):
        with tf.GradientTape() as tape:
            loss = net(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables))

model = Model()
for x in data:
    model(x)
"""


def planned(folder: Path, text: str, target: str = "horovod", requirements: str = "") -> Plan:
    """The plan for a script beside its requirements."""
    (folder / "train.py").write_text(text)
    (folder / "requirements.txt").write_text(requirements)
    return make_plan([folder], Options(target))


def of_keras_3(plan: Plan) -> list[Reported]:
    """What is told of Keras 3."""
    return [finding for finding in plan.told if "Keras 3" in finding.advice]


def test_plain_horovod_under_an_unknown_keras_is_told_once(tmp_path: Path) -> None:
    (finding,) = of_keras_3(planned(tmp_path, FIT))
    assert finding.rule == "HVD712"
    assert "--target hvdkit" in finding.advice


@pytest.mark.parametrize("requirements", ["tensorflow==2.15.1\n", "keras~=2.12\n", "tf-keras\n"])
def test_nothing_is_told_where_keras_2_is_asked_for(tmp_path: Path, requirements: str) -> None:
    assert not of_keras_3(planned(tmp_path, FIT, requirements=requirements))


def test_at_least_some_version_may_be_any_later_one(tmp_path: Path) -> None:
    assert of_keras_3(planned(tmp_path, FIT, requirements="tensorflow>=2.10\n"))


def test_hvdkits_optimizer_serves_both(tmp_path: Path) -> None:
    assert not of_keras_3(planned(tmp_path, FIT, target="hvdkit"))


def test_a_step_whose_loop_is_not_found_leaves_the_data_open(tmp_path: Path) -> None:
    (program,) = planned(tmp_path, HIDDEN).programs
    (sharded,) = (row for row in program.conditions if "sharded" in row.name)
    assert sharded.state is State.OPEN
