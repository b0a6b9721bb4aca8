"""Values that lead to each other in every form, as chains, under tests and in circles: each command answers.

A search that lists every way takes twice as long for each further link: with forty it never ends.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hvdkit.check.command import make_plan as make_check_plan
from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.plan import Plan, State
from hvdkit.source.index import names as index
from tests.migrate.value_forms import FIRST, FORMS, program

LINKS = 40
DEEP = 200
MOST = 60  # CPU seconds of one program, of which the slowest takes two


def answered(path: Path, text: str) -> list[Plan]:
    path.write_text(text)
    begin = time.process_time()
    plans = [make_check_plan([path], Options())]
    if "horovod" not in text:
        plans.append(make_plan([path], Options()))
    assert time.process_time() - begin < MOST
    return plans


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", FIRST)
def test_every_form_is_answered(library: str, form: str, tmp_path: Path) -> None:
    for shape in ("chain", "tests", "circle"):
        for plan in answered(tmp_path / "train.py", program(library, form, shape, LINKS)):
            assert not plan.unreadable, (shape, plan.unreadable)


@pytest.mark.parametrize("form", ["call", "method", "telling method", "attribute", "tuple"])
def test_a_deep_chain_is_answered(form: str, tmp_path: Path) -> None:
    for plan in answered(tmp_path / "train.py", program("tensorflow", form, "chain", DEEP)):
        assert not plan.unreadable


def pipeline(lines: list[str]) -> str:
    rows = ["import argparse", "import tensorflow as tf", "args = argparse.ArgumentParser().parse_args()"]
    rows += ["data = tf.data.Dataset.range(64)", *lines]
    rows += ["model = tf.keras.Sequential([tf.keras.layers.Dense(1)])", 'model.compile("sgd", "mse")']
    return "\n".join([*rows, "model.fit(data)", ""])


def test_options_that_change_each_element_are_one_way(tmp_path: Path) -> None:
    options = [line for n in range(22) for line in (f"if args.o{n}:", "    data = data.map(abs)")]
    _, plan = answered(tmp_path / "train.py", pipeline([*options, "data = data.shuffle(64).batch(8)"]))
    (file,) = plan.files
    assert file.after.count(".shard(hvd.size(), hvd.rank())") == 1
    assert "tf.data.Dataset.range(64).apply(" in file.after


def test_an_attribute_is_followed_to_the_assignment_before(tmp_path: Path) -> None:
    text = """\
import tensorflow as tf


class Trainer:
    def __init__(self, cache):
        self.data = tf.data.Dataset.range(64)
        if cache:
            self.data = self.data.cache()
        self.data = self.data.shuffle(64)
        self.data = self.data.batch(8)
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.model.compile("sgd", "mse")

    def train(self):
        self.model.fit(self.data)


Trainer(True).train()
"""
    _, plan = answered(tmp_path / "train.py", text)
    assert "tf.data.Dataset.range(64).apply(" in plan.files[0].after
    assert not plan.left


def test_more_ways_than_can_be_followed_are_an_open_row(tmp_path: Path) -> None:
    options = [line for n in range(22) for line in (f"if args.o{n}:", f"    data = data.shuffle({n + 1})")]
    _, plan = answered(tmp_path / "train.py", pipeline(options))
    line = 4 + len(options)
    assert any(f"could not be followed, line {line}" in finding.message for finding in plan.left)
    rows = [row for program in plan.programs for row in program.conditions if row.state is State.OPEN]
    assert any("could not be followed" in row.detail for row in rows)


def test_a_file_that_asks_too_much_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "MOST_QUESTIONS", 0.001)
    (tmp_path / "other.py").write_text("print(1)\n")
    path = tmp_path / "train.py"
    for plan in answered(path, program("torch", "sum", "chain", LINKS)):
        ((where, line, reason),) = plan.unreadable
        assert where == path and line > 1 and "could not be followed" in reason
