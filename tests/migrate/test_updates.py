"""What counts as a step that a script takes by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.facts.models.weight_updates import hand_updates, may_step_weights
from hvdkit.source.project.opening import open_project


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


@pytest.mark.parametrize(
    ("call", "steps"),
    [
        ("unknown.step()", True),
        ("unknown.step(closure)", True),
        ("loss = unknown.step(closure=closure)", True),
        ("unknown.step(epoch=epoch - 1)", False),
        ("unknown.step(metrics=loss)", False),
        ("x = unknown.step(noise, t, x).prev_sample", False),
        ("seen, reward = unknown.step(action)", False),
    ],
)
def test_a_call_as_optimizers_have_it(tmp_path: Path, call: str, steps: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"{call}\n")
    (names,) = open_project([script]).files.values()
    assert may_step_weights(names, names.calls["step"][0]) is steps
