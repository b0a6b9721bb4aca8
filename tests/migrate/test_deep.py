"""Programs that nest or chain more deeply than Python's own stack, which a rule's walk must not end at."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hvdkit.check.command import make_plan as make_check_plan
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.source.read import room

LINKS = 400
KERAS = """\
import tensorflow as tf
from tensorflow.keras import layers

inputs = tf.keras.Input((4,))
x0 = layers.Dense(4)(inputs)
{chain}
model = tf.keras.Model(inputs, {last})
model.compile("sgd", "mse")
model.fit(tf.ones([8, 4]), tf.ones([8, 4]))
open({name} + ".txt", "w").write("done")
"""
TORCH = """\
import torch

{chain}
model = {last}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
"""


def keras(chain: list[str], last: str = "x0", name: str = "model.name") -> str:
    return KERAS.format(chain="\n".join(chain), last=last, name=name)


def functions(links: int = LINKS) -> str:
    first = "def f0():\n    return torch.nn.Linear(4, 4)"
    rest = [f"def f{n + 1}():\n    return f{n}()" for n in range(links)]
    return TORCH.format(chain="\n".join([first, *rest]), last=f"f{links}()")


PROGRAMS = {
    "each layer from the one before": keras(
        [f"x{n + 1} = layers.Dense(4)(x{n})" for n in range(LINKS)], f"x{LINKS}"
    ),
    "a variable from itself": keras(["x0 = x0 + layers.Dense(4)(x0)"] * LINKS),
    "a sum of layers": keras(["y = x0" + " + layers.Dense(4)(x0)" * LINKS], "y"),
    "a sum of texts in a file's name": keras(
        [], name="model.name" + "".join(f" + str({n})" for n in range(LINKS))
    ),
    "elif": keras(
        ["if len(inputs.shape) == 0:", "    n = 0"]
        + [line for n in range(LINKS) for line in (f"elif len(inputs.shape) == {n}:", f"    n = {n}")]
    ),
    "calls of what calls give": keras(["d = tf.data.Dataset.range(9)" + ".map(abs)" * LINKS]),
    "functions that call each other": functions(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_deep_program_is_migrated(name: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAMS[name])
    limit = sys.getrecursionlimit()
    file = next(file for file in make_plan([path], Options()).files if file.path == path)
    assert file.changed and not file.problem and "hvd.init()" in file.after
    assert not make_check_plan([path], Options()).unreadable
    assert sys.getrecursionlimit() == limit


def test_uses_of_one_variable_are_not_asked_once_for_each_other(tmp_path: Path) -> None:
    """A cubic walk takes minutes here, and this one seconds."""
    path = tmp_path / "train.py"
    path.write_text(keras(["x0 = x0 + layers.Dense(4)(x0)"] * 300))
    start = time.process_time()
    assert make_plan([path], Options()).changed
    assert time.process_time() - start < 30


def test_what_is_too_deep_for_the_room_is_named_and_the_rest_is_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "FRAMES", sys.getrecursionlimit() + 1)
    deep, plain = tmp_path / "deep.py", tmp_path / "train.py"
    deep.write_text(functions(3 * LINKS))
    plain.write_text(TORCH.format(chain="", last="torch.nn.Linear(4, 4)"))
    plan = make_plan([tmp_path], Options())
    ((path, _, reason),) = plan.unreadable
    assert path == deep and "nested calls to follow: build it in a loop" in reason
    assert [file.path for file in plan.changed] == [plain]


def test_what_is_too_deep_in_no_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "FRAMES", sys.getrecursionlimit() + 1)

    @room.roomy
    def endless() -> None:
        endless()

    with pytest.raises(room.TooDeepError) as raised:
        endless()
    assert "too long to follow" in raised.value.seen and raised.value.fix


def test_a_stack_that_the_system_refuses_is_said(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAMS["functions that call each other"])
    command = f"ulimit -v {room.STACK >> 10}; exec {sys.executable} -m hvdkit migrate {path}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "a stack of 256 MB is not available" in done.stderr and "ulimit -v unlimited" in done.stderr
