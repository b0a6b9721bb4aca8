"""What counts as a step that a script takes by hand, and which programs run a function."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.updates import hand_updates
from hvdkit.migrate.project import open_project


@pytest.mark.parametrize(
    ("statement", "steps"),
    [
        ("p -= 0.1 * p.grad", True),
        ("p.data.add_(p.grad, alpha=-0.1)", True),
        ("p.data.copy_(p - 0.1 * p.grad)", True),
        ("p.data = p.data - 0.1 * p.grad", True),
        ("p.grad *= 0.5", False),
        ("p.grad.zero_()", False),
        ("p.grad.data.div_(4)", False),
        ("g = p.grad", False),
        ("print(p.grad)", False),
        ("x -= torch.autograd.grad(loss, x)[0]", False),
    ],
)
def test_a_step_by_hand(tmp_path: Path, statement: str, steps: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import torch\n\nfor p in model.parameters():\n    {statement}\n")
    (names,) = open_project([script]).files.values()
    assert bool(list(hand_updates(names))) is steps


TRAIN = """\
import torch

def train(loss):
    loss.backward()
    optimizer.step()

def show(x):
    print(x)
"""
CLASS = """\
import torch

class Trainer:
    def train(self):
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("helper", "script", "kind"),
    [
        (TRAIN, "from helper import train\n\ntrain(1)\n", "single"),
        (TRAIN, "from helper import show, train\n\nshow(train)\n", "single"),
        (TRAIN, "from helper import show\n\nshow(1)\n", "none"),
        (CLASS, "from helper import Trainer\n\nmake()(Trainer)\n", "single"),
    ],
    ids=["called", "handed on", "neither", "a method"],
)
def test_a_program_trains_where_its_function_may_run(
    tmp_path: Path, helper: str, script: str, kind: str
) -> None:
    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "script.py").write_text(f"import torch\n{script}")
    (tmp_path / "other.py").write_text(
        "import torch\nfrom helper import *\n\nif __name__ == '__main__':\n    train(2)\n"
    )
    facts = Facts(open_project([tmp_path]))
    kinds = {program.entry.source.path.name: program.kind for program in facts.programs}
    assert kinds["script.py"] == kind
