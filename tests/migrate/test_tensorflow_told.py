"""What the report says of a migrated TensorFlow program beside its edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.cli import main
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
TAPE = """\
import tensorflow as tf

net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
for x, y in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""

ONE_PROCESS = """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""


def planned(
    folder: Path, text: str, target: str = "horovod", requirements: str = "", installed: str = ""
) -> Plan:
    """The plan for a script beside its requirements, where some Keras is installed."""
    (folder / "train.py").write_text(text)
    (folder / "requirements.txt").write_text(requirements)
    return make_plan([folder], Options(target, keras=installed))


def of_keras_3(plan: Plan) -> list[Reported]:
    """What is told of Keras 3."""
    return [finding for finding in plan.told if "Keras 3" in finding.advice]


@pytest.mark.parametrize("text", [FIT, TAPE])
def test_plain_horovod_under_an_unknown_keras_is_told_once(tmp_path: Path, text: str) -> None:
    (finding,) = of_keras_3(planned(tmp_path, text))
    assert finding.rule == "HVD701"
    assert "--target hvdkit" in finding.advice


@pytest.mark.parametrize("requirements", ["tensorflow==2.15.1\n", "keras~=2.12\n", "tf-keras\n"])
def test_nothing_is_told_where_keras_2_is_asked_for(tmp_path: Path, requirements: str) -> None:
    assert not of_keras_3(planned(tmp_path, FIT, requirements=requirements))


def test_at_least_some_version_may_be_any_later_one(tmp_path: Path) -> None:
    assert of_keras_3(planned(tmp_path, FIT, requirements="tensorflow>=2.10\n"))


@pytest.mark.parametrize("text", [FIT, TAPE])
def test_the_keras_that_is_installed_refuses_plain_horovod(tmp_path: Path, text: str) -> None:
    plan = planned(tmp_path, text, installed="3.8.0")
    (finding,) = [finding for finding in plan.left if finding.rule == "HVD791"]
    step = ".fit(" if text is FIT else ".apply_gradients("
    assert finding.line == text[: text.index(step)].count("\n") + 1
    assert finding.message.startswith("Keras 3.8.0 is installed here: under Keras 3 plain Horovod's ")
    assert "--target hvdkit" in finding.advice
    assert not plan.changed


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
def test_a_call_that_keras_3_has_not_is_reported_where_the_optimizer_is_chosen(
    tmp_path: Path, target: str
) -> None:
    text = (
        TAPE[: TAPE.index("    with")] + "    optimizer.minimize(lambda: net(x), net.trainable_variables)\n"
    )
    plan = planned(tmp_path, text, target, installed="3.8.0")
    (finding,) = [finding for finding in plan.left if "minimize()" in finding.message]
    assert (finding.rule, finding.line) == ("HVD791", 4)
    assert finding.message.endswith("which is called at train.py:6")
    under_keras_2 = planned(tmp_path, text, target, installed="2.15.0")
    assert not any(finding.rule == "HVD791" for finding in under_keras_2.left)


@pytest.mark.parametrize("target", ["horovod", "hvdkit"])
@pytest.mark.parametrize(("requirements", "installed"), [("", "2.15.0"), ("tensorflow==2.15.1\n", "3.8.0")])
def test_code_of_keras_3_where_keras_2_is_meets_a_refusal(
    tmp_path: Path, target: str, requirements: str, installed: str
) -> None:
    text = TAPE.replace(".apply_gradients(zip(", ".apply(").replace("net.trainable_variables))", "None)")
    (finding,) = [
        finding
        for finding in planned(tmp_path, text, target, requirements, installed).left
        if "install TensorFlow 2.16" in finding.advice
    ]
    assert (finding.rule, finding.line) == ("HVD791", 8)
    assert finding.message.endswith("and an optimizer's apply() is Keras 3's")


@pytest.mark.parametrize(
    ("text", "requirements", "installed"),
    [
        (FIT, "", "2.15.0"),
        (FIT, "tensorflow==2.15.1\n", "3.8.0"),
        (FIT.replace("import", "import tf_keras\nimport", 1), "", "3.8.0"),
        ('import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n' + FIT, "", "3.8.0"),
    ],
)
def test_keras_2_is_migrated_without_a_word(
    tmp_path: Path, text: str, requirements: str, installed: str
) -> None:
    plan = planned(tmp_path, text, requirements=requirements, installed=installed)
    assert plan.changed and not plan.left and not of_keras_3(plan)


def test_hvdkits_optimizer_serves_both(tmp_path: Path) -> None:
    assert not of_keras_3(planned(tmp_path, FIT, target="hvdkit"))


def test_a_step_whose_loop_is_not_found_leaves_the_data_open(tmp_path: Path) -> None:
    (program,) = planned(tmp_path, HIDDEN).programs
    (sharded,) = (row for row in program.conditions if "sharded" in row.name)
    assert sharded.state is State.OPEN


@pytest.mark.parametrize(
    ("asked", "settings", "form"),
    [
        ((), "", "import hvdkit.tensorflow.keras as hvd"),
        (("--target", "hvdkit"), "", "import hvdkit.tensorflow.keras as hvd"),
        (("--target", "horovod"), "", ""),
        ((), '[tool.hvdkit.migrate]\ntarget = "horovod"\n', ""),
    ],
)
def test_keras_3_gets_hvdkits_form_unless_plain_horovod_is_asked_for(
    tmp_path: Path, asked: tuple[str, ...], settings: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The PyTorch program beside it is written as ever."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "keras").mkdir()
    (tmp_path / "torch" / "train.py").write_text(ONE_PROCESS)
    (tmp_path / "keras" / "train.py").write_text(FIT)
    (tmp_path / "keras" / "requirements.txt").write_text("keras==3.8.0\n")
    (tmp_path / "pyproject.toml").write_text(settings)
    code = main(["migrate", str(tmp_path), *asked, "--output", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    written = tmp_path / "out" / "keras" / "train.py"
    if form:
        assert code == 0
        assert form in written.read_text()
        assert "requirements.txt requires keras 3.8, where plain Horovod averages nothing" in printed or asked
    else:
        assert code == 1
        assert "HVD791" in printed and written.read_text() == FIT
    beside = (tmp_path / "out" / "torch" / "train.py").read_text()
    assert ("import horovod.torch as hvd" in beside) == (asked != ("--target", "hvdkit"))
