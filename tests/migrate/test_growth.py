"""The cost of a project grows with its files: copies of a folder are not asked about each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.facts import Options
from hvdkit.migrate.facts.code.call_graph import CallGraph

TWO_OPTIMIZERS = """\
import torch
from parts import networks


def main():
    first, second = networks()
    one = torch.optim.SGD(first.parameters(), lr=0.1)
    two = torch.optim.SGD(second.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.zeros(64, 4), batch_size=4)
    for x in data:
        first(x).sum().backward()
        one.step()
        second(x).sum().backward()
        two.step()


if __name__ == "__main__":
    main()
"""
PARTS = """\
import torch


def networks():
    return torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
"""


def asked(folder: Path, copies: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often it is asked whether a program comes to a place, in so many copies of a project."""
    for number in range(copies):
        (folder / f"copy{number}").mkdir(parents=True)
        (folder / f"copy{number}" / "train.py").write_text(TWO_OPTIMIZERS)
        (folder / f"copy{number}" / "parts.py").write_text(PARTS)
    questions: list[None] = []
    runs = CallGraph.runs

    def counted(self: CallGraph, *about: object) -> bool:
        questions.append(None)
        return runs(self, *about)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(CallGraph, "runs", counted)
        make_plan([folder], Options())
    shutil.rmtree(folder)
    return len(questions)


def test_four_times_the_copies_ask_four_times_as_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = asked(tmp_path / "few", 3, monkeypatch), asked(tmp_path / "many", 12, monkeypatch)
    assert few > 0 and many <= 4.2 * few
